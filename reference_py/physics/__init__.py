"""Physics and imaging: the definition of every result, in NumPy element by element."""
