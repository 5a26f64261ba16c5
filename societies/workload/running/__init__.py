"""How is a workload run? Engines, blocks of ticks, the file, checkpoints, branches and reports."""
