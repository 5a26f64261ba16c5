"""A model of a few agents whose rules use what models rarely do, each in a way of its own."""

from typing import Literal

from societies.model import (
    Bounded,
    DailyConfig,
    Events,
    Field,
    Model,
    Rng,
    Series,
    Step,
    key,
    random_matching,
    reduce_sum,
    shape,
    value,
)

MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))
LARGE = 3_000_000_000


class VillageConfig(DailyConfig):
    """Keys of every kind: some size arrays, others may differ between societies."""

    workload: Literal["village"]
    agents: int = shape(6, "Number of agents", "agents", ge=1, le=100)
    tax: int = value(2, "Tax of an agent", "units", ge=0, le=100)
    share: float = value(0.25, "Share of what is over", "1", ge=0.0, le=1.0)
    rule: Literal["even", "odd"] = key("even", "Who pays")
    weights: tuple[float, ...] = (0.5, 0.25, 0.125)

    @property
    def double_tax(self) -> int:
        """Twice the tax."""
        return 2 * self.tax


def begin(config, society, day):
    """Begin the streams."""
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()
    for agent in range(config.agents):
        society.own[agent] = Rng.seed(config.stream_base, 5, 100 * society.index + agent).pack()


def work(config, society, day, agent):
    """Earn, every agent alone; wages are read of all."""
    rng = Rng.load(society.own[agent])
    earned = rng.below(10 + agent)
    if society.age[(agent + 1) % config.agents] > 3:
        earned += 1
    society.money[agent] += earned
    society.income[agent] = float(earned) * config.share
    society.own[agent] = rng.pack()


def pay(config, society, day, hour):
    """Pay a tax: who it is depends on the rule and the hour."""
    for agent in range(config.agents):
        if config.rule == "even" and agent % 2 == hour % 2:
            paid = min(config.tax, society.money[agent])
            society.money[agent] -= paid
            society.box += paid
            if paid > 1:
                society.payments.append((day, agent, paid))
        elif config.rule == "odd" and society.money[agent] > config.double_tax:
            society.box += 1


def meet(config, society, day):
    """Pair agents and let the poorer one of a pair have the box."""
    rng = Rng.load(society.stream)
    partner = random_matching(rng, config.agents)
    for agent, other in enumerate(partner):
        if other is None:
            continue
        if society.money[agent] < society.money[other]:
            society.money[agent] += society.box
            society.box = 0
    society.stream = rng.pack()


def corners(config, society, day):
    """Where C and Python have other words for the same."""
    rng = Rng.load(society.stream)
    large = society.money[0] + LARGE
    society.wide[0] = large * (day + 1) + (-7 // 2) * 10 + (-7 % 3) + -7 // society.age[0]
    society.wide[1] = (society.money[0] % -5) + (1 << 40) + (-9 >> 70) + (~day)
    society.wide[2] = 100 * (2 < day <= 4 != 9) + (day or 7) + (society.box and rng.below(9))
    at = -1
    for at in range(3, 30, 7):
        if rng.below(at) == 0:
            break
    society.wide[3] = at
    queue: list[int] = Bounded(4)
    for k in [3, 1, 2]:
        queue.insert(0, k)
    for k in queue:
        if len(queue) < 4:
            queue.append(k + day)
    best = max(queue, key=lambda v: (v % 3, -v))
    society.wide[4] = queue.index(2) * 1000 + queue[-1] * 10 + best
    pairs = sorted([(v % 3, i) for i, v in enumerate(society.money)], reverse=True)
    society.wide[5] = sum((k + 1) * a * 7 + b for k, (a, b) in enumerate(pairs))
    rows = [[(i * j) % 5 for j in range(i + 1)] for i in range(4)]
    rows[2][1] += day
    society.wide[0] += sum(max(row) for row in rows)
    seen = [False] * config.agents
    seen[day % config.agents] = True
    society.wide[1] += sum(i for i, flag in enumerate(seen) if not flag)
    for dx, dy in MOVES:
        society.wide[2] += dx * 3 + dy * day
    x = float(day) / 3.0 + config.weights[day % 3]
    society.income[0] = max(x, -x) * 0.1 + round(2.5) + round(-x) + int(-x * 7.0)
    society.income[1] = reduce_sum([w * x for w in config.weights]) + society.income[-1]

    def shifted(v, by=1):
        return v + by + at

    society.wide[3] += twice(shifted, day) + twice(lambda v: v * v, 3)
    society.wide[4] += (odd(day) or 2 * day) + 100 * ((odd(day) or at) != 2.5)
    society.stream = rng.pack()


def odd(v):
    """Return an odd number, or None for an even one."""
    return v if v % 2 else None


def twice(function, v):
    """Return the sum of a function of two numbers."""
    return function(v) + function(v + 1)


def grow(config, society, day):
    """Grow old; the village ends when its box is full."""
    society.age = [age + 1 for age in society.age]
    if society.index == 1 and day == 6:
        society.ended = day
    society.series = {
        "all_money": float(sum(society.money)),
        "all_income": reduce_sum(society.income),
    }


class Village(Model):
    """What is declared."""

    name, summary, version = "village", "a model with a bit of everything", "3"
    config = VillageConfig
    start, day = ("begin",), ("work", "pay", "meet", "corners", "grow")
    step_arguments = ("hour",)

    def schedule(self, p, tick, seen):
        """Return the phases of a day: taxes are paid twice."""
        if not tick:
            return [Step("begin")]
        hours = [Step("pay", f"hour {hour}", {"hour": hour}) for hour in (1, 2)]
        return [Step("work"), *hours, Step("meet"), Step("corners"), Step("grow")]

    def sizes(self, p):
        """Return the lengths."""
        return {"agent": p.agents, "number": 6}

    def fields(self, p):
        """Return the state."""
        units = Field(("agent",), "int32", "units", "money", initial=3, recorded=True)
        return {
            "money": units,
            "income": Field(("agent",), "float64", "units", "income"),
            "age": Field(("agent",), "uint8", "days", "age", initial=1),
            "wide": Field(("number",), "int64", "1", "large numbers"),
            "box": Field((), "int64", "units", "taxes"),
            "own": Field(("agent",), "uint64", "1", "streams", within=(1, "last state")),
            "stream": Field((), "uint64", "1", "stream", within=(1, "last state")),
            "ended": Field((), "int32", "day", "day of the end", initial=-1),
        }

    def events(self, p):
        """Return the lists of events."""
        return {"payments": Events(3, 2 * p.agents)}

    def series(self, p):
        """Return the series."""
        return {
            "all_money": Series("units", "money of all agents"),
            "all_income": Series("units", "income of all agents"),
        }


WORKLOAD = Village()
