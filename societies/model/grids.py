"""Which steps do models of agents on a grid share? Neighbours, and tastes for two goods.

Every function is plain Python and is translated with the rule that calls it.
"""

STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Directions on a grid: how many rows and columns further."""


def neighbour(cell: int, side: int, step: int, far: int) -> int:
    """Return the cell of a torus that lies in one of four directions.

    Parameters
    ----------
    cell : number of a cell, row by row
    side : number of rows, and of columns
    step : direction, 0 to 3
    far : distance, less than ``side``
    """
    down, right = STEPS[step]
    return (cell // side + far * down) % side * side + (cell % side + far * right) % side


def welfare(weights: list[int], first: float, second: float) -> float:
    """Return the welfare from two goods, a Cobb-Douglas function.

    Here it is raised to the power of the sum of the weights.

    Parameters
    ----------
    weights : needed amount of each good, whole numbers
    first, second : held amount of each good
    """
    product = 1.0
    for good, held in enumerate((first, second)):
        for _ in range(weights[good]):
            product *= held
    return product


def rate(weights: list[int], first: float, second: float) -> float:
    """Return the marginal rate of substitution: units of the second good for one of the first."""
    return second * float(weights[0]) / (first * float(weights[1]))
