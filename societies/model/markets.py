"""Which steps do markets share? Search, the order of the agents, and matching.

Agents search among a few others (`choose`). Then a market clears in one of three ways: applicants
are matched with open places in a ranked order (`match_in_order`, `match_one_by_one`), suppliers
ration their offers among applicants (`ration_in_order`), or buyers visit sellers one after another
(`visit_in_order`). Agents act one by one, so their order decides who gets scarce goods.

Every function is plain Python and is translated with the rule that calls it. Words are random
numbers of 32 bits, as `Rng.next` returns them. If an agent always draws the same number of words
in a period, a policy does not change its later draws.
"""

from collections.abc import Callable

from reference_py.primitives.rng import Rng

MOST = 1 << 24
"""Indices that `placed` takes are below this number."""


def draw_word(streams: list[int], agent: int) -> int:
    """Return the next random number of 32 bits from the stream of an agent."""
    rng = Rng.load(streams[agent])
    word = rng.next()
    streams[agent] = rng.pack()
    return word


def draw_words(streams: list[int], agent: int, count: int) -> list[int]:
    """Return the next ``count`` random numbers of 32 bits from the stream of an agent."""
    rng = Rng.load(streams[agent])
    words = [rng.next() for _ in range(count)]
    streams[agent] = rng.pack()
    return words


def draw_uniform(streams: list[int], agent: int) -> float:
    """Return the next number from 0 to 1 from the stream of an agent; it takes two words."""
    rng = Rng.load(streams[agent])
    drawn = rng.uniform()
    streams[agent] = rng.pack()
    return drawn


def pick(word: int, n: int) -> int:
    """Return one of 0 .. n-1 by a word; probabilities are equal except for at most n / 2**32."""
    return word * n >> 32


def pick_other(word: int, n: int, taken: list[int]) -> int:
    """Return one of 0 .. n-1 that is not in a list, and insert it.

    Parameters
    ----------
    word : random number of 32 bits
    n : number of entries to choose from, more than the list has
    taken : ascending list of the entries chosen before
    """
    found = pick(word, n - len(taken))
    at = 0
    while at < len(taken) and taken[at] <= found:
        found += 1
        at += 1
    taken.insert(at, found)
    return found


def choose(words: list[int], n: int, count: int, taken: list[int], chosen: list[int]) -> None:
    """Append different numbers from 0 to n-1 to a list until it has ``count`` entries.

    Parameters
    ----------
    words : random numbers of 32 bits; the k-th one chooses the k-th entry of the list
    n : number of entries to choose from, at least ``count``
    taken : empty list with room for ``count`` entries
    chosen : at most one entry chosen before, such as the shop to which a buyer returns
    """
    for one in chosen:
        taken.append(one)
    for k in range(len(chosen), count):
        chosen.append(pick_other(words[k], n, taken))


def placed(word: int, index: int) -> int:
    """Return the number that sorts agents by their word, then by their index."""
    return word * MOST + index


def index_of(place: int) -> int:
    """Return the index of an agent from its `placed` number."""
    return place & (MOST - 1)


def match_in_order(
    order: list[int],
    applied: Callable[[int], int],
    places: list[int],
    accept: Callable[[int, int], None],
) -> None:
    """Match ranked applicants with places: each gets a place at its employer if one is left.

    Parameters
    ----------
    order : `placed` numbers of the applicants; the smallest is served first
    applied : returns the employer to which an applicant applies
    places : open places of every employer
    accept : function of an applicant and its employer that carries out the match and reduces the
        open places
    """
    for place in sorted(order):
        applicant = index_of(place)
        employer = applied(applicant)
        if places[employer] > 0:
            accept(applicant, employer)


def match_one_by_one(
    order: list[int],
    lists: list[list[int]],
    places: list[int],
    accept: Callable[[int, int], None],
) -> None:
    """Match as `match_in_order`, but let each applicant try its whole list before the next one.

    An applicant takes the first employer with a place left. Negative entries of ``lists`` stand for
    none.
    """
    for place in sorted(order):
        applicant = index_of(place)
        for employer in lists[applicant]:
            if employer >= 0 and places[employer] > 0:
                accept(applicant, employer)
                break


def ration_in_order(
    ranked: list[tuple[float, int]],
    asked: Callable[[int], int],
    wanted: list[int],
    offered: list[int],
    grant: Callable[[int, int, int], None],
) -> None:
    """Ration posted offers: a supplier serves buyers in their order until it has nothing left.

    Parameters
    ----------
    ranked : (rank, buyer) in the order in which buyers are served
    asked : returns the supplier that a buyer asks, or a negative number for none
    wanted : amount that every buyer still wants
    offered : amount that every supplier still offers
    grant : function of a buyer, its supplier and the amount, the smaller of wanted and offered. It
        carries out the trade, of a smaller amount if it has a limit, and changes both lists
    """
    for _, buyer in ranked:
        supplier = asked(buyer)
        if supplier >= 0 and wanted[buyer] > 0 and offered[supplier] > 0:
            grant(buyer, supplier, min(wanted[buyer], offered[supplier]))


def visit_in_order(
    order: list[int],
    lists: list[list[int]],
    first: int,
    last: int,
    budgets: list[int],
    stocks: list[int],
) -> None:
    """Let buyers visit sellers in a drawn order and buy as much as budget and stock allow.

    Each buyer visits entries ``first`` to ``last`` - 1 of its list before the next one begins.
    Stocks are values at the seller's price, in the unit of budgets.

    Parameters
    ----------
    order : `placed` numbers of the buyers in ascending order
    lists : sellers that each buyer visits; negative entries stand for none
    budgets : money of every buyer, reduced by its purchases
    stocks : value of every seller's stock, reduced by its sales
    """
    for place in order:
        buyer = index_of(place)
        for k in range(first, last):
            seller = lists[buyer][k]
            if seller >= 0:
                paid = min(budgets[buyer], stocks[seller])
                budgets[buyer] -= paid
                stocks[seller] -= paid


def trimmed_mean(values: list[int], share: int) -> float:
    """Return the mean of ascending values without the lowest and highest n/``share`` of n."""
    n = len(values)
    cut = (n + share // 2) // share
    total = 0
    for k in range(cut, n - cut):
        total += values[k]
    return float(total) / float(max(n - 2 * cut, 1))
