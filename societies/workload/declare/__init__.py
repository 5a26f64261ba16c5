"""What does a workload declare? Its fields, phases, keys, contents of the file and views."""
