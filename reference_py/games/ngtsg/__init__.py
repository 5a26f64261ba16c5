"""Search of game trees node by node (NGTS-G), in plain Python: it knows no game."""
