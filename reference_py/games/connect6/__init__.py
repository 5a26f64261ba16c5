"""How is Connect6 played and searched? Rules, evaluation, moves, forced wins."""
