"""How is Havannah played and searched? A module for each phase defines it."""
