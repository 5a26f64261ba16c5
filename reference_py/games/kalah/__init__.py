"""How is Kalah played and searched? A module for each phase defines it."""
