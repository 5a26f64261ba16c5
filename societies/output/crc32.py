"""What is the CRC-32 of two pieces together, if it is known of each?

A CRC is the remainder of a polynomial over the field of two elements. The bytes of the second piece
move the first one on by x to the power of 8 for each of them, so its remainder is multiplied by
that power's, modulo the same polynomial (P. W. Peterson, D. T. Brown, "Cyclic Codes for Error
Detection", Proceedings of the IRE 49, 1961). What `zlib.crc32` does before and after cancels out.
"""

from __future__ import annotations

POLYNOMIAL = 0xEDB88320
"""Of CRC-32, the coefficient of x to the power of 31 in the lowest bit; that of 32 is left out."""

_ONE = 1 << 31
"""The polynomial 1."""


def joined(first: int, second: int, nbytes: int) -> int:
    """Return the CRC-32 of a piece and one of ``nbytes`` bytes after it, given that of each."""
    return _product(_of_bytes(nbytes), first) ^ second


def _of_bytes(nbytes: int) -> int:
    """Return x to the power of eight times so many, by repeated squaring."""
    power, square = _ONE, _ONE >> 8
    while nbytes:
        if nbytes & 1:
            power = _product(power, square)
        square = _product(square, square)
        nbytes >>= 1
    return power


def _product(a: int, b: int) -> int:
    """Return the product of two polynomials modulo that of CRC-32."""
    product = 0
    while a:
        if a & _ONE:
            product ^= b
        a = a << 1 & 0xFFFFFFFF
        b = b >> 1 ^ (POLYNOMIAL if b & 1 else 0)
    return product
