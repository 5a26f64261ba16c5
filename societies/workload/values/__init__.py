"""What are the parameters of copies, and how do kernels read them? Their keys, and a table."""
