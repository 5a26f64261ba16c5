"""Is the CRC-32 of two pieces together that of their bytes?"""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from societies.output import crc32


@given(st.binary(max_size=70), st.binary(max_size=300))
def test_joined(first, second):
    of_both = crc32.crc_joined(zlib.crc32(first), zlib.crc32(second), len(second))
    assert of_both == zlib.crc32(first + second)


def test_joined_with_a_long_piece():
    second = bytes(range(256)) * 70001
    assert crc32.crc_joined(zlib.crc32(b"ab"), zlib.crc32(second), len(second)) == zlib.crc32(
        b"ab" + second
    )
