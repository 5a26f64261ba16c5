"""Lennard-Jones atoms in a periodic cube, one module per phase: this is the definition."""
