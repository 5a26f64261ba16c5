"""Games: what the workloads of this room declare."""
