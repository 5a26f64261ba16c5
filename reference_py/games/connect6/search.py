"""Which three functions does a search need of Connect6?

A position has two sets of points, twelve words each: those of the side to move, then the other's.
Device twin: ``kernels/games/connect6/search.cl``.
"""

from reference_py.games.connect6.evaluate import evaluate
from reference_py.games.connect6.make import make
from reference_py.games.connect6.moves import branch
from reference_py.games.ngtsg.parameters import GameFunctions

GAME = GameFunctions(branch, evaluate, make)
