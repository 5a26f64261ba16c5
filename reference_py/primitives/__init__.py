"""What does each primitive of devices compute? One file per kernel file defines it."""
