"""Which random numbers belong to whom: seeding and use of the streams of a society.

A stream belongs to (seed, society, owner, purpose); the owner is an agent, or the society itself
(owner = number of agents). Streams start 2**32 draws apart.
Device twin: ``kernels/economy/streams.cl``.
"""

from contextlib import contextmanager

from reference_py.primitives.rng import Rng


def seed_streams(p, s):
    """Set every stream of the society to its start."""
    for owner in range(p.agents + 1):
        for purpose in range(p.purpose_count):
            number = (s.index * (p.agents + 1) + owner) * p.purpose_count + purpose
            s.stream[owner][purpose] = Rng.seed(p.stream_base, p.stream_gap, number).pack()


@contextmanager
def drawing(p, s, owner, purpose):
    """Give the stream's generator and keep its position afterwards."""
    place = p.purposes[purpose]
    rng = Rng.load(s.stream[owner][place])
    yield rng
    s.stream[owner][place] = rng.pack()
