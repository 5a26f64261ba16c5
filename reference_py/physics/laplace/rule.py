"""What does a free cell become, given the sum of its four neighbours?

The mean of them (Jacobi's iteration); what heat makes of it; or, with successive over-relaxation,
more than the mean, since the cell goes beyond it by the factor omega.
Device twin: ``kernels/physics/laplace/rule.cl``.
"""


def ruled(p, cell, around):
    """Return new potentials; ``cell`` and ``around`` are arrays of num."""
    if p.method == "heat":
        return cell + p.num(p.ratio) * (around - p.num(4.0) * cell)
    if p.method == "sor":
        return cell + p.num(p.omega) * (p.num(0.25) * around - cell)
    return p.num(0.25) * around


def neighbours(phi):
    """Return the sums of the four neighbours of the cells inside a plate."""
    east, south, west, north = phi[1:-1, 2:], phi[2:, 1:-1], phi[1:-1, :-2], phi[:-2, 1:-1]
    return ((east + west) + south) + north
