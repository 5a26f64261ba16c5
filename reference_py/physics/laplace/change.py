"""How much did the step change the plate, and is that little enough to end?

The largest of non-negative numbers does not depend on the order in which they are compared.
Device twin: ``kernels/physics/laplace/change.cl``.
"""

import numpy as np

from reference_py.primitives.reduce import reduce_max


def change(p, plate, tick):
    """Take the largest change of a cell; end if the step is one that is looked at (`ends`)."""
    difference = plate.next - plate.phi  # 0 where a cell is not free
    size = np.where(difference < 0, -difference, difference)
    plate.change = p.num(reduce_max(size.ravel().tolist()))
    if ends(p, plate.change, tick):
        plate.ended = tick


def ends(p, change, tick):
    """Return whether a step with this change is the last one."""
    return tick % p.check_every == 0 and bool(change <= p.num(p.tolerance))
