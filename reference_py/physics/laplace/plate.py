"""What is a plate before the first step: which cells are free, and what potential has each?

Device twin: ``kernels/physics/laplace/plate.cl``.
"""

from types import SimpleNamespace

import numpy as np

RUNNING = -1
"""`ended` of a plate that has not met its tolerance; else it is the number of the step that did."""


def start(p):
    """Return a plate as it is before step 1; its arrays are what `Parameters` says.

    Attributes of the plate
    -----------------------
    phi : (row, column) num, potential
    next : (row, column) num, what the step that is being made gives; undefined between steps
    free : (row, column) bool, whether the rule applies to a cell; others keep their value
    change : num, the largest change of a cell in the step last looked at
    ended : int, the step that met the tolerance, or `RUNNING`
    sum, residual : float, of the last step (totals.py)
    """
    phi, free = potentials(p), free_cells(p)
    return SimpleNamespace(
        phi=phi,
        next=phi.copy(),
        free=free,
        change=p.num(0.0),
        ended=RUNNING,
        sum=0.0,
        residual=0.0,
    )


def potentials(p):
    """Return border and conductors at their potentials, all else at 0; (row, column) num."""
    phi = np.zeros((p.rows, p.columns), p.num)
    top, bottom, left, right = p.border
    phi[:, 0], phi[:, -1] = left, right
    phi[0, :], phi[-1, :] = top, bottom
    for conductor in p.conductors:
        phi[conductor.cells] = conductor.potential
    return phi


def free_cells(p):
    """Return which cells are neither border nor conductor; (row, column) bool."""
    free = np.zeros((p.rows, p.columns), np.bool_)
    free[1:-1, 1:-1] = True
    for conductor in p.conductors:
        free[conductor.cells] = False
    return free
