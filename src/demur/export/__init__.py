"""Trained models as folders with ONNX files, which need no torch; scores are compared before any is kept."""
