"""What does a workload declare? Its fields, phases, keys, the contents of its file, and views."""
