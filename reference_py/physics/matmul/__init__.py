"""The product of two matrices, one module per phase: this is the definition."""
