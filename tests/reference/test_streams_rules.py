"""Does every owner and purpose have random numbers of its own, in every society?"""

import pytest
from states import started

from reference_py.economy.society import new_society
from reference_py.economy.streams import PURPOSE_COUNT, PURPOSES, drawing, seed_streams
from reference_py.primitives.rng import STREAM_GAP, Rng

AGENTS = 3


@pytest.fixture
def society():
    p, _ = started(agents=AGENTS)

    def of(index):
        s = new_society(p, index)
        seed_streams(p, s)
        return p, s

    return of


def test_streams_are_a_gap_apart_by_society_owner_and_purpose(society):
    """Sixteen for each of the three agents and for the society itself, one after the other."""
    assert PURPOSE_COUNT == 16 > max(PURPOSES.values())
    for index in (0, 1, 5):
        p, s = society(index)
        flat = [one for owner in s.stream for one in owner]
        assert len(s.stream) == AGENTS + 1 and len(flat) == 64
        starts = [Rng.seed(p.stream_base, STREAM_GAP, 64 * index + i).pack() for i in range(64)]
        assert flat == starts
    assert new_society(p).index == 0


def test_no_two_streams_are_equal(society):
    everything = [one for index in range(6) for owner in society(index)[1].stream for one in owner]
    assert len(set(everything)) == len(everything) == 6 * 64


def test_a_draw_moves_only_its_own_stream(society):
    p, s = society(2)
    before = [list(owner) for owner in s.stream]
    with drawing(p, s, 1, "consumption") as rng:
        rng.next()
    moved = [
        (owner, purpose)
        for owner in range(AGENTS + 1)
        for purpose in range(PURPOSE_COUNT)
        if s.stream[owner][purpose] != before[owner][purpose]
    ]
    assert moved == [(1, PURPOSES["consumption"])]
    expected = Rng.seed(p.stream_base, STREAM_GAP, (2 * 4 + 1) * 16 + 1)
    expected.next()
    assert s.stream[1][1] == expected.pack()
