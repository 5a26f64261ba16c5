"""What is known of a move of a tree: nothing, there is a stone, or how it ends for certain?

Device twin: ``kernels/games/havannah/moves.cl``.
"""

OPEN_MOVE, TAKEN, WINS, LOSES, TIES = range(5)
"""A move that wins has made a structure, or all replies to it lose."""
