"""Kalah, one module per phase of its search: this is the definition."""
