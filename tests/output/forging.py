"""Give a changed file seals that fit, as somebody would who wants it to be taken for ours."""

import os
from dataclasses import replace

from societies.output import seal
from societies.output.disk import Disk


def forge(path):
    """Seal the file again as it is now."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        there = seal.find(descriptor)
        disk, size = Disk(descriptor, {}), os.fstat(descriptor).st_size
        taken = [(one.offset, one.end) for one in there.extents.values() if one.nbytes]
        taken += [(offset, offset + nbytes) for offset, nbytes in there.seals]
        scales = {
            one.name: (one.offset, one.offset + one.nbytes) for one in there.fixed if one.name
        }
        fixed = tuple(
            seal.Fixed(name, start, end - start, seal.digest(disk, start, end - start))
            for name, start, end in seal._between(taken, scales, size)
        )
        forged = replace(there, size=size, fixed=fixed)
        for offset, nbytes in there.seals:
            disk.write_bytes(offset, seal._packed(forged, nbytes))
    finally:
        os.close(descriptor)
