"""How are spheres and planes drawn by ray tracing? A module for each phase defines it."""
