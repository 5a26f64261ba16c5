"""How is a picture blurred? A module for each phase defines it."""
