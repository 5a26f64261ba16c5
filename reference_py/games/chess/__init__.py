"""How is chess played, counted and searched? A module for each question defines it."""
