"""What does each kernel compute? Plain Python defines it, file by file as in `kernels/`.

Nothing here imports `societies`: a function gets the numbers it needs handed in.
"""
