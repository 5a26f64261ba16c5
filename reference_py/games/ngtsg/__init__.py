"""How is a game tree searched node by node (NGTS-G)? The search knows no game."""
