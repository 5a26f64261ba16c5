"""The models of `societies.models` on Mesa, for benchmarks/models.py; needs Mesa 3 and networkx.

    python benchmarks/models_on_mesa.py MODEL DAYS [UNTIMED]

prints the processor seconds of the days of one society, after some that are not timed. Schelling
and Sugarscape are Mesa's own examples, at the size of our quickstarts; BAM is that of bam-engine's
repository, whose clone has to be on PYTHONPATH; the others are written here on Mesa's classes.
"""

import sys
import time

import mesa


class Payer(mesa.Agent):
    def __init__(self, model):
        super().__init__(model)
        self.money = 100


class Boltzmann(mesa.Model):
    """Agents pay each other at random."""

    def __init__(self, agents=500, seed=1):
        super().__init__(seed=seed)
        Payer.create_agents(self, agents)
        self.collector = mesa.DataCollector({"gini": Boltzmann.gini})

    def step(self):
        order = list(self.agents.shuffle())
        for payer, payee in zip(order[::2], order[1::2], strict=False):
            if payer.money >= 10:
                payer.money -= 10
                payee.money += 10
        self.collector.collect(self)

    def gini(self):
        money = sorted(agent.money for agent in self.agents)
        n = len(money)
        return sum((2 * i + 1 - n) * x for i, x in enumerate(money)) / (n * sum(money))


class Trader(mesa.Agent):
    def __init__(self, model, number):
        super().__init__(model)
        self.buys, self.number, self.traded = number < 6, number % 6, 0

    def limit(self):
        """Return the value or the cost of the next unit, or None."""
        unit = 6 * self.traded + self.number
        if unit >= 19:
            return None
        return 140 - 5 * unit if self.buys else 26 + 3 * unit

    def shout(self):
        model, limit = self.model, self.limit()
        if limit is None:
            return
        if self.buys:
            price = model.random.randint(1, limit)
            if price > model.bid:
                model.bid, model.bidder = price, self
        else:
            price = model.random.randint(limit, 200)
            if price < model.ask:
                model.ask, model.asker = price, self
        if model.bid >= model.ask:
            model.prices.append(model.ask if self.buys else model.bid)
            model.gains += model.bidder.limit() - model.asker.limit()
            model.bidder.traded += 1
            model.asker.traded += 1
            model.bid, model.ask = 0, 201


class ZeroIntelligence(mesa.Model):
    """Traders shout at random, one after another; the second market, constrained."""

    def __init__(self, shouts=5000, seed=1):
        super().__init__(seed=seed)
        self.shouts = shouts
        self.traders = [Trader(self, number) for number in range(12)]
        self.collector = mesa.DataCollector({"gains": "gains", "trades": lambda m: len(m.prices)})

    def step(self):
        for trader in self.traders:
            trader.traded = 0
        self.bid, self.ask, self.prices, self.gains = 0, 201, [], 0
        for _ in range(self.shouts):
            self.random.choice(self.traders).shout()
        self.collector.collect(self)


class Ant(mesa.Agent):
    def __init__(self, model):
        super().__init__(model)
        self.source = self.random.randrange(2)

    def meet(self):
        other = self
        while other is self:
            other = self.random.choice(self.model.ants)
        chance, model = self.random.random(), self.model
        if chance < model.own:
            self.source = 1 - self.source
        elif chance < model.own + model.convinced:
            self.source = other.source


class KirmanAnts(mesa.Model):
    """Ants recruit each other."""

    def __init__(self, seed=1, own=0.002, convinced=0.99):
        super().__init__(seed=seed)
        self.own, self.convinced = own, convinced
        self.ants = [Ant(self) for _ in range(100)]
        self.collector = mesa.DataCollector(
            {"share": lambda m: sum(a.source for a in m.ants) / 100}
        )

    def step(self):
        for _ in range(100):
            self.random.choice(self.ants).meet()
        self.collector.collect(self)


def schelling():
    from mesa.examples.basic.schelling.model import Schelling

    return Schelling(height=51, width=51, density=0.95, minority_pc=0.5, homophily=0.3, seed=1)


def sugarscape():
    from mesa.examples.advanced.sugarscape_g1mt.model import SugarscapeG1mt

    return SugarscapeG1mt(seed=1)


def bam():
    from comparison.orchestrator.params import canonical_params
    from comparison.runners.mesa.model import BamModel

    return BamModel(100, 500, 10, canonical_params(), seed=1, collect=False)


MODELS = {
    "bam": bam,
    "boltzmann": Boltzmann,
    "zero_intelligence": ZeroIntelligence,
    "kirman_ants": KirmanAnts,
    "schelling": schelling,
    "sugarscape": sugarscape,
}

if __name__ == "__main__":
    name, days = sys.argv[1], int(sys.argv[2])
    model = MODELS[name]()
    for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 0):
        model.step()
    began = time.process_time()
    for _ in range(days):
        model.step()
    print(time.process_time() - began, mesa.__version__)
