"""Connect6 in plain Python: rules, evaluation, moves, forced wins."""
