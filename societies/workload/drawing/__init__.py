"""How are figures of runs drawn? A default figure, and the panels that workloads share."""
