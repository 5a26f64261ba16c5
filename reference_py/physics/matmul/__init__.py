"""How are two matrices multiplied? A module for each phase defines it."""
