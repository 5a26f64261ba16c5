"""What do the rules say? Plain Python, phase by phase: the definition of every result.

Twin: kernels/my_model.cl. Money comes in whole units, so that no sum depends on its order.
"""

from reference_py.primitives.permute import random_permutation
from reference_py.primitives.rng import Rng


def seed_streams(config, society, day):
    """Give every society a random stream of its own, by its number."""
    rng = Rng.seed(config.stream_base, config.stream_gap, society.index)
    society.stream = rng.pack()


def exchange(config, society, day):
    """Pair the agents at random; the first of a pair pays the second, if it can.

    Every order of the agents is equally likely, so it is chance who is first. An odd agent rests.
    """
    rng = Rng.load(society.stream)
    order = random_permutation(rng, config.agents)
    for payer, payee in zip(order[::2], order[1::2], strict=False):
        if society.money[payer] >= config.amount:
            society.money[payer] -= config.amount
            society.money[payee] += config.amount
    society.stream = rng.pack()


def statistics(config, society, day):
    """Fill the day's series."""
    total = sum(society.money)
    society.series = {
        "gini": gini(society.money, total),
        "richest": float(max(society.money)),
        "poor": float(sum(money < config.amount for money in society.money)),
        "total": float(total),
    }


def gini(money, total):
    """Return the Gini coefficient: the sum of all pairs' differences over n times the total.

    Of the sorted values the i-th from 0 is the greater one in i pairs and the lesser one in
    n - 1 - i.
    """
    n = len(money)
    differences = sum((2 * i + 1 - n) * x for i, x in enumerate(sorted(money)))
    return float(differences) / (float(n) * float(total))
