"""Where on the orbit of the random generator does a stream begin? See docs/design/randomness.md."""

from __future__ import annotations

STREAM_GAP = 2**32
"""Draws between the starts of neighbouring streams."""

_ORBIT = 4294883355 * 2**31 - 1  # draws until MWC64X repeats

RANDOM_STREAMS = _ORBIT // STREAM_GAP
"""Streams that fit into the orbit."""


def stream_base(seed: int) -> int:
    """Return where on the generator's orbit the streams of a seed begin.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014) scatters neighbouring seeds: taken as
    they are, the streams of seeds 1 and 2 would be one another shifted by a draw. The place is
    given within one round of the orbit: kernels add up distances modulo 2**64, and beyond that
    streams would come out on top of others.
    """
    z = (seed + 0x9E3779B97F4A7C15) % 2**64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
    return (z ^ (z >> 31)) % _ORBIT


LAST_STATE = (4294883355 << 32) - 2
"""The largest word of a stream's state (kernels/primitives/rng.cl): carry below A, and not the last
of these words. That one, like 0, would give the same number for ever, and some draws never end."""
