"""Transformers that read question and answer together, with torch or from an ONNX file."""
