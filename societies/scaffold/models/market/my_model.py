"""Zero-intelligence traders in a double auction (D. K. Gode and S. Sunder, 1993)."""

from typing import Literal

from societies.model import DailyConfig, Field, Model, Rng, Series, key, value


class MyModelConfig(DailyConfig):
    workload: Literal["my_model"]
    agents: int = key(100, "Traders; the first half buys", "agents", ge=2, le=10_000)
    shouts: int = value(2000, "Shouts in a day", "shouts", ge=1, le=1_000_000)
    top: int = key(200, "Highest value, cost, bid and ask", "cents", ge=1, le=1_000_000)
    constrained: bool = key(True, "Whether no trader bids above the value, or asks below the cost")


def endow(config, society, day):
    """Draw what a unit is worth to every buyer, and costs every seller."""
    rng = Rng.seed(config.stream_base, config.stream_gap, society.index)
    for agent in range(config.agents):
        society.limit[agent] = 1 + rng.below(config.top)
    society.stream = rng.pack()


def auction(config, society, day):
    """Let random traders shout; the best bid and the best ask stand until they cross."""
    rng = Rng.load(society.stream)
    buyers = config.agents // 2
    active = [1] * config.agents
    bid, ask, bidder, asker = 0, config.top + 1, -1, -1
    trades, paid, surplus = 0, 0, 0
    for _ in range(config.shouts):
        agent = rng.below(config.agents)
        if not active[agent]:
            continue
        if agent < buyers:
            shout = 1 + rng.below(society.limit[agent] if config.constrained else config.top)
            if shout > bid:
                bid, bidder = shout, agent
        else:
            least = society.limit[agent] if config.constrained else 1
            shout = least + rng.below(config.top + 1 - least)
            if shout < ask:
                ask, asker = shout, agent
        if bid >= ask:  # at the price of the one who came first
            trades, paid = trades + 1, paid + (ask if agent < buyers else bid)
            surplus += society.limit[bidder] - society.limit[asker]
            active[bidder], active[asker] = 0, 0
            bid, ask = 0, config.top + 1
    values = sorted(society.limit[:buyers], reverse=True)
    costs = sorted(society.limit[buyers:])
    best = sum(max(0, value - cost) for value, cost in zip(values, costs, strict=False))
    society.series = {
        "trades": float(trades),
        "price": float(paid) / float(max(1, trades)),
        "efficiency": float(surplus) / float(max(1, best)),
    }
    society.stream = rng.pack()


class MyModel(Model):
    name, summary, version = "my_model", "zero-intelligence traders in a double auction", "1"
    config, start, day = MyModelConfig, ("endow",), ("auction",)

    def sizes(self, p):
        return {"agent": p.agents}

    def fields(self, p):
        return {
            "limit": Field(
                ("agent",), "int32", "cents", "value or cost of a unit", within=(0, None)
            ),
            "stream": Field(
                (), "uint64", "1", "state of the random stream", within=(1, "last state")
            ),
        }

    def series(self, p):
        return {
            "trades": Series("units", "units that changed hands"),
            "price": Series("cents", "mean price"),
            "efficiency": Series("1", "surplus realised, of the largest possible"),
        }


WORKLOAD = MyModel()
