"""Which random numbers does each part of a society draw? How its streams are seeded and used.

A stream belongs to (seed, society, owner, purpose); the owner is an agent, or the society itself
(owner = number of agents). Streams start 2**32 draws apart.
Device twin: ``kernels/economy/streams.cl``.
"""

from contextlib import contextmanager

from reference_py.primitives.rng import STREAM_GAP, Rng, stream_base

PURPOSES = {
    "extraction": 0,
    "consumption": 1,
    "invention": 2,
    "resource_matching": 3,
    "device_matching": 4,
    "invention_order": 5,
    "shocks": 6,
}
"""What a random stream is for. Appended to, never reordered: a stream's place depends on it."""

PURPOSE_COUNT = 16
"""Streams of each owner, with room for further purposes."""


def seed_streams(p, s):
    """Set every stream of the society to its start; futures of one past share theirs."""
    seed_all(p, s, p.stream_base, s.index // p.futures if p.futures else s.index)


def seed_futures(p, s):
    """On the day after that of the fan, give every society streams of its own, of another seed."""
    seed_all(p, s, p.future_base, s.index)


def synchronize_draws(p, s, day):
    """In the morning, set every stream to its start among the streams of the day.

    The day's streams are those of another seed, made from the day and the society's seed.
    """
    if p.synchronized_draws:
        own = bool(p.futures) and day > p.fan_day
        base = p.future_base if own else p.stream_base
        society = s.index // p.futures if p.futures and not own else s.index
        seed_all(p, s, stream_base(base + day), society)


def seed_all(p, s, base, society):
    """Set every stream to the start of that of a society's number, counted from ``base``."""
    for owner in range(p.agents + 1):
        for purpose in range(PURPOSE_COUNT):
            number = (society * (p.agents + 1) + owner) * PURPOSE_COUNT + purpose
            s.stream[owner][purpose] = Rng.seed(base, STREAM_GAP, number).pack()


@contextmanager
def drawing(p, s, owner, purpose):
    """Give the stream's generator and keep its position afterwards."""
    place = PURPOSES[purpose]
    rng = Rng.load(s.stream[owner][place])
    yield rng
    s.stream[owner][place] = rng.pack()


def of_part(p, s, owner, purpose, part, parts):
    """Return a generator for one of the equal parts of a day's stream, which stays at its start."""
    rng = Rng.load(s.stream[owner][PURPOSES[purpose]])
    rng.skip(part * (STREAM_GAP // parts))
    return rng
