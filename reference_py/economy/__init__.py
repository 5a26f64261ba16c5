"""The economy, one module per phase of the day, written for clarity: this is the definition."""
