"""Training of sentence encoders, and encoders whose vectors a training run keeps."""
