"""The labour market: minimum wage, wage offers, applications, hiring, and layoffs (3.3, 3.4)."""

from societies.model import Bounded, Rng
from societies.model.markets import (
    choose,
    draw_uniform,
    draw_word,
    match_in_order,
    match_one_by_one,
    placed,
)
from societies.models.bam import flows


def dismiss(economy, household, returning):
    """End the contract of a household; ``returning``: it has run out."""
    firm = economy.employer[household]
    economy.former[household] = firm
    economy.employer[household] = -1
    economy.wage[household], economy.left[household] = 0, 0
    economy.returning[household] = returning
    economy.staff[firm] -= 1


def lay_off(config, economy, unpaid):
    """Let firms dismiss those that they do not want, or (``unpaid``, 3.5) cannot pay, by lot."""

    def too_many(firm):
        if unpaid:
            return economy.payroll[firm] > economy.cash[firm]
        return economy.staff[firm] > economy.want[firm]

    order: list[tuple[int, int]] = Bounded(config.households)
    for household in range(config.households):
        word = draw_word(economy.stream, config.firms + household)
        firm = economy.employer[household]
        if firm >= 0 and too_many(firm):
            dearest = unpaid and config.layoff == "dearest"
            order.append((-economy.wage[household] if dearest else word, household))
    for _, household in sorted(order):
        firm = economy.employer[household]
        if too_many(firm):
            if unpaid:
                economy.payroll[firm] -= economy.wage[household]
            dismiss(economy, household, 0)
            economy.tally[flows.FIRED_MONEY if unpaid else flows.FIRED_EXCESS] += 1


def labour(config, economy, quarter):
    """Revise the minimum wage, offer wages, and match those without a job with vacancies."""
    measure_inflation(config, economy, quarter)
    if quarter > config.min_wage_every and (quarter - 1) % config.min_wage_every == 0:
        revise_minimum_wage(config, economy)
    for firm in range(config.firms):
        xi = config.h_xi * draw_uniform(economy.stream, firm)
        if economy.vacancies[firm] > 0:
            economy.offer[firm] = int(min(economy.offer[firm] * (1.0 + xi), config.top))
        economy.offer[firm] = max(economy.offer[firm], economy.min_pay)

    seekers: list[int] = Bounded(config.households)
    keys: list[int] = Bounded(config.households * config.max_m)
    search(config, economy, seekers, keys)
    for turn in range(config.max_m if config.hiring == "rounds" else 1):
        match_workers(config, economy, seekers, keys, turn)
    for firm in range(config.firms):
        economy.payroll[firm] = 0
    for household in range(config.households):
        if economy.employer[household] >= 0:
            economy.payroll[economy.employer[household]] += economy.wage[household]


def measure_inflation(config, economy, quarter):
    """Measure inflation: the average price of last quarter over that of a year before it."""
    economy.infl = 0.0
    if config.inflation == "year":
        if quarter >= 5:
            economy.infl = economy.prices[0] / economy.prices[4] - 1.0
    elif quarter >= 2:
        rise = economy.prices[0] / economy.prices[1]
        economy.infl = rise * rise * rise * rise - 1.0


def revise_minimum_wage(config, economy):
    """Let the minimum wage follow prices, and raise the contracts below it (3.4)."""
    if config.min_wage != "fixed":
        infl = max(economy.infl, 0.0) if config.min_wage == "up" else economy.infl
        economy.min_pay = int(min(economy.min_pay * (1.0 + infl), config.top))
    if config.raise_contracts == "yes":
        for household in range(config.households):
            if economy.employer[household] >= 0:
                economy.wage[household] = max(economy.wage[household], economy.min_pay)


def search(config, economy, seekers, keys):
    """Let all without a job choose the firms to apply to: the best offers among some drawn.

    Parameters
    ----------
    seekers : list that gets the households that look for work
    keys : list that gets their words for the order in each round, ``max_m`` for each
    """
    every = config.search_pool == "all"
    pool = [firm for firm in range(config.firms) if every or economy.vacancies[firm] > 0]
    for household in range(config.households):
        for k in range(config.max_m):
            economy.apply[household][k] = -1
        agent = config.firms + household
        rng = Rng.load(economy.stream[agent])
        words = [rng.next() for _ in range(2 * config.max_m)]
        economy.stream[agent] = rng.pack()
        if economy.employer[household] >= 0 or len(pool) == 0:
            continue
        taken: list[int] = Bounded(config.max_m)
        drawn: list[int] = Bounded(config.max_m)
        choose(words, len(pool), min(config.max_m, len(pool)), taken, drawn)
        best = sorted([pool[k] for k in drawn], key=lambda firm: -economy.offer[firm])
        firms = Bounded(config.max_m, best)
        former = economy.former[household]
        if economy.returning[household] == 1 and (every or economy.vacancies[former] > 0):
            if former in firms:
                firms.remove(former)
            else:
                firms.pop()
            firms.insert(0, former)
        economy.returning[household] = 0
        for k, firm in enumerate(firms):
            economy.apply[household][k] = firm
        seekers.append(household)
        keys.extend(words[config.max_m :])


def hire(config, economy, household, firm):
    """Let a firm take an applicant, at the wage that it offers."""
    economy.employer[household] = firm
    economy.wage[household], economy.left[household] = economy.offer[firm], config.contract
    economy.returning[household] = 0
    economy.staff[firm] += 1
    economy.vacancies[firm] -= 1
    economy.tally[flows.HIRED] += 1


def match_workers(config, economy, seekers, keys, turn):
    """Let firms hire in a drawn order: those who apply to them in this turn, or one by one.

    One by one, each seeker takes the first firm of its list that has a vacancy left.
    """
    order: list[int] = Bounded(config.households)
    for k, household in enumerate(seekers):
        firm = economy.apply[household][turn]
        applies = firm >= 0 and economy.vacancies[firm] > 0 and economy.employer[household] < 0
        if applies or config.hiring == "one_by_one":
            order.append(placed(keys[k * config.max_m + turn], household))
    lists, places = economy.apply, economy.vacancies
    if config.hiring == "one_by_one":
        match_one_by_one(order, lists, places, lambda j, i: hire(config, economy, j, i))
    else:
        match_in_order(
            order, lambda j: lists[j][turn], places, lambda j, i: hire(config, economy, j, i)
        )
