"""The loop that trains a network, and what it stands on: checkpoints, gradients, several processes."""
