"""Are whole numbers of more than 53 bits compared with real ones as in Python?"""

import pytest
from random_rules import outcome

PROGRAM = """
WHOLES = (0, 3, -3, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1, 1 - 2**63)
REALS = (0.0, -0.0, 5e-324, 3.5, -3.0, 2.0**53, 2.0**53 + 2.0, -(2.0**53), 2.0**62, 2.0**63,
         -(2.0**63), 1e300, math.inf, -math.inf, math.nan)
PAIRS = ((1, 2), (3, 4))


def run0(config, society, day):
    bits = 0
    for w in WHOLES:
        for x in REALS:
            bits = (bits * 64 + (w < x) + 2 * (w <= x) + 4 * (w == x)) % 1000003
            bits = (bits * 64 + (x < w) + 2 * (x >= w) + 4 * (x != w)) % 1000003
    society.xi[0] = bits
    society.xi[1] = int(9007199254740993 > 9007199254740992.0) + 2 * int(9.0 == 9)
    society.xi[2] = int(9007199254740993 > society.xr[0] > -9223372036854775807)


def run1(config, society, day):
    society.other = [int(9.21e18), int(-9.21e18), math.floor(9.2e18), math.ceil(-9.2e18),
                     round(9.22e18), math.trunc(float(2**63 - 1025)), int(float(1 - 2**53))]


def run2(config, society, day):
    society.xr[0] = (2**60 + day - day) / 3 + float(2**63 - 1) + (2**53 + 1) * 0.5
    society.xi[0] = PAIRS[1][day % 2] + (7, 8, 9)[day % 3] + sum(WHOLES[1:3])
    society.xi[1] = WHOLES.index(3) + int(day in WHOLES) + len(WHOLES[day:]) + WHOLES.count(day)
"""


@pytest.mark.parametrize("mode", ["", "checked"])
def test_numbers_of_64_bits_are_those_of_python(monkeypatch, tmp_path, mode):
    """Comparisons rounded the whole number; checked builds refused what 64 bits hold."""
    monkeypatch.setenv("SOCIETIES_DEBUG", mode)
    phases = PROGRAM.split("\n\n\n")
    assert outcome([f"{PROGRAM}\n", "", ""], tmp_path) == ("", len(phases) - 1)
