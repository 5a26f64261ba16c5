"""What is the CRC-32 of two joined pieces of data, given the CRC-32 of each?

A CRC is the remainder of a polynomial over the field of two elements. Each byte of the second piece
multiplies the polynomial of the first piece by x to the power of 8. So the first remainder is
multiplied by that power of x, modulo the CRC polynomial, and the second is added (P. W. Peterson,
D. T. Brown, "Cyclic Codes for Error Detection", Proceedings of the IRE 49, 1961). The inversions
that `zlib.crc32` makes before and after cancel out.
"""

from __future__ import annotations

POLYNOMIAL = 0xEDB88320
"""Polynomial of CRC-32: the lowest bit is the coefficient of x**31; that of x**32 is left out."""

_ONE = 1 << 31
"""The polynomial 1."""


def crc_joined(first: int, second: int, nbytes: int) -> int:
    """Return the CRC-32 of two joined pieces, given those of each; the second has ``nbytes``."""
    return _product(_of_bytes(nbytes), first) ^ second


def _of_bytes(nbytes: int) -> int:
    """Return x to the power of 8 * ``nbytes``, by repeated squaring."""
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
