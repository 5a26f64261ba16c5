"""Is a workload right, and how fast is it? Verifying, capturing and timing."""
