"""Physics and imaging: what the workloads of this room declare."""
