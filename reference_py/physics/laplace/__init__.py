"""How are Laplace's equation and heat on a plate solved? A module for each phase defines it."""
