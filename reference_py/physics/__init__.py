"""What do the workloads of physics and images compute? NumPy defines it, element by element."""
