"""The blurring of images, one module per phase: this is the definition."""
