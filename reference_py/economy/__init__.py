"""How does a society live? One module per phase of the day, written for clarity, defines it."""
