"""How do Lennard-Jones atoms move in a periodic cube? A module for each phase defines it."""
