"""Search of game trees node by node (NGTS-G), for the workloads of games: it knows no game."""
