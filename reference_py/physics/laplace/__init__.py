"""Laplace's equation and heat on a plate, one module per phase: this is the definition."""
