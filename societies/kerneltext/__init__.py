"""What is the text of a kernel, and where are its builds kept? No device is needed for either."""
