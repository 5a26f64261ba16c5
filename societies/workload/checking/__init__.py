"""Is a workload correct, and how fast is it? Verifying, capturing and timing."""
