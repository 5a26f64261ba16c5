"""Zero-intelligence traders in a double auction, one after another.

After D. K. Gode and S. Sunder, "Allocative efficiency of markets with zero-intelligence traders"
(1993). Traders shout random prices; their only rule is to make no loss, yet they realise nearly
all gains from trade. Here demand and supply are straight lines. Each of the five markets has about
the equilibrium of the published market with the same number.
"""

import math
from typing import Literal

from societies.model import Bounded, DailyConfig, Field, Model, Rng, Series, key, shape, value

BUYERS = 6
"""Number of buyers, and of sellers."""

MARKETS = ((31, 139, 3, 23, 2), (19, 140, 5, 26, 3), (9, 134, 5, 78, 5), (25, 199, 2, 100, 5),
           (33, 177, 2, 84, 2))  # fmt: skip
"""Units, highest value and how much less each next one is, lowest cost and how much more. Unit k is
that of trader k % 6. If all units are traded, the gains are about those published of traders who
may make losses."""


class ZeroIntelligenceConfig(DailyConfig):
    workload: Literal["zero_intelligence"]
    market: int = value(1, "Which of the five markets", "1", ge=1, le=5)
    shouts: int = value(5000, "Shouts in a day", "shouts", ge=1, le=1_000_000)
    top: int = shape(200, "Highest bid and ask", "cents", ge=200, le=1_000_000)
    constrained: bool = key(True, "Whether no trader bids above the value, or asks below the cost")


def begin(config, society, day):
    """Give every society its own random stream, which depends on its number."""
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()


def limit(market, agent, traded):
    """Return the value of a buyer's next unit, or the cost of a seller's (agents from 6 on)."""
    _, value, less, cost, more = MARKETS[market]
    unit = BUYERS * traded + agent % BUYERS
    return value - less * unit if agent < BUYERS else cost + more * unit


def possible(market):
    """Return the largest possible gains from trade."""
    units, value, less, cost, more = MARKETS[market]
    return sum(max(0, value - cost - (less + more) * k) for k in range(units))


def auction(config, society, day):
    """Let random traders bid or ask for a unit; the best bid and ask stay until they cross."""
    rng = Rng.load(society.stream)
    market = config.market - 1
    units = MARKETS[market][0]
    traded = [0] * (2 * BUYERS)
    society.profit = [0] * (2 * BUYERS)
    prices = Bounded(6 * BUYERS)
    bid, ask, bidder, asker = 0, config.top + 1, -1, -1
    for _ in range(config.shouts):
        agent = rng.below(2 * BUYERS)
        if BUYERS * traded[agent] + agent % BUYERS >= units:
            continue
        worth = limit(market, agent, traded[agent])
        if agent < BUYERS:
            shout = 1 + rng.below(worth if config.constrained else config.top)
            if shout > bid:
                bid, bidder = shout, agent
        else:
            least = worth if config.constrained else 1
            shout = least + rng.below(config.top + 1 - least)
            if shout < ask:
                ask, asker = shout, agent
        if bid >= ask:  # at the price of the one who came first
            price = ask if agent < BUYERS else bid
            prices.append(price)
            society.profit[bidder] += limit(market, bidder, traded[bidder]) - price
            society.profit[asker] += price - limit(market, asker, traded[asker])
            traded[bidder] += 1
            traded[asker] += 1
            bid, ask = 0, config.top + 1
    mean = float(sum(prices)) / float(max(1, len(prices)))
    square = float(sum(price * price for price in prices)) / float(max(1, len(prices)))
    society.series = {
        "trades": float(len(prices)),
        "price": mean,
        "price_sd": math.sqrt(max(0.0, square - mean * mean)),
        "efficiency": float(sum(society.profit)) / float(possible(market)),
    }
    society.stream = rng.pack()


class ZeroIntelligence(Model):
    """Six buyers and six sellers, who shout random prices."""

    name, summary = "zero_intelligence", "traders shout at random in a double auction"
    config, start, day = ZeroIntelligenceConfig, ("begin",), ("auction",)

    def sizes(self, p):
        return {"agent": 2 * BUYERS}

    def fields(self, p):
        return {
            "profit": Field(("agent",), "int32", "cents", "profit of a trader; buyers come first",
                            recorded=True),
            "stream": Field((), "uint64", "1", "random stream", within=(1, "last state")),
        }  # fmt: skip

    def series(self, p):
        return {
            "trades": Series("units", "units that changed hands"),
            "price": Series("cents", "mean price of the day"),
            "price_sd": Series("cents", "standard deviation of the day's prices"),
            "efficiency": Series("1", "gains from trade, of the largest possible"),
        }


WORKLOAD = ZeroIntelligence()
