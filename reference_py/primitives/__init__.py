"""The definition of every device primitive, in plain Python; one file per kernel file."""
