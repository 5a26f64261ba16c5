"""Havannah in plain Python: the definition of every result."""
