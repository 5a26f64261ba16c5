"""Pictures of spheres and planes by ray tracing, one module per phase: this is the definition."""
