"""Give a changed file seals that fit, as a forger would."""

import hashlib
import json
import os
import zlib
from dataclasses import replace

from societies.output import seal, stored_seal
from societies.output.disk import Disk


def forge(path):
    """Seal the file again as it is now."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        stored = stored_seal.find(descriptor)
        disk, size = Disk(descriptor, {}), os.fstat(descriptor).st_size
        taken = [(one.offset, one.end) for one in stored.extents.values() if one.nbytes]
        taken += [(offset, offset + nbytes) for offset, nbytes in stored.seals]
        scales = {
            one.name: (one.offset, one.offset + one.nbytes) for one in stored.fixed if one.name
        }
        fixed = tuple(
            stored_seal.Fixed(name, start, end - start, seal.digest(disk, start, end - start))
            for name, start, end in seal._between(taken, scales, size)
        )
        forged = replace(stored, size=size, fixed=fixed)
        for offset, nbytes in stored.seals:
            disk.write_bytes(offset, stored_seal.packed(forged, nbytes))
    finally:
        os.close(descriptor)


def forge_words(path, change):
    """Let both seals say what ``change`` makes of their words (JSON), with checksums that fit."""
    content = bytearray(path.read_bytes())
    at = content.find(stored_seal.MAGIC)
    while at >= 0:
        begin = at + len(stored_seal.MAGIC) + 16
        room = int.from_bytes(content[begin - 16 : begin - 8], "little")
        nbytes = int.from_bytes(content[begin - 8 : begin], "little")
        words = json.loads(zlib.decompress(content[begin : begin + nbytes]))
        change(words)
        text = zlib.compress(json.dumps(words).encode(), 9)
        made = content[at : begin - 8] + len(text).to_bytes(8, "little") + text
        assert len(made) <= room - 16
        made = made.ljust(room - 16, b"\0")
        content[at : at + room] = made + hashlib.blake2b(made, digest_size=16).digest()
        at = content.find(stored_seal.MAGIC, at + room)
    path.write_bytes(content)
