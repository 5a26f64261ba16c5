"""Plain Python definition of every result; the kernels in `kernels/` mirror it file by file.

Nothing here imports `societies`: a function gets the numbers it needs handed in.
"""
