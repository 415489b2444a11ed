"""Small nets that match words with words, with torch or from an ONNX file."""
