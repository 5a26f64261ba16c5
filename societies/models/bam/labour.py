"""The labour market: minimum wage, wage offers, applications, hiring, and layoffs (3.3, 3.4)."""

from societies.model import Bounded, Rng
from societies.model.markets import (
    choose,
    draw_uniform,
    draw_word,
    index_of,
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
    economy.wage[household] = 0
    economy.left[household] = 0
    economy.returning[household] = returning
    economy.staff[firm] -= 1


def lay_off_excess(config, economy):
    """Let firms with more workers than they want dismiss the others, in a drawn order."""
    order: list[int] = Bounded(config.households)
    for household in range(config.households):
        word = draw_word(economy.stream, config.firms + household)
        firm = economy.employer[household]
        if firm >= 0 and economy.staff[firm] > economy.want[firm]:
            order.append(placed(word, household))
    for place in sorted(order):
        household = index_of(place)
        firm = economy.employer[household]
        if economy.staff[firm] > economy.want[firm]:
            dismiss(economy, household, 0)
            economy.tally[flows.FIRED_EXCESS] += 1


def lay_off_unpaid(config, economy):
    """Let firms that cannot pay all wages dismiss workers until they can (3.5)."""
    order: list[tuple[int, int]] = Bounded(config.households)
    for household in range(config.households):
        word = draw_word(economy.stream, config.firms + household)
        firm = economy.employer[household]
        if firm >= 0 and economy.payroll[firm] > economy.cash[firm]:
            first = -economy.wage[household] if config.layoff == "dearest" else word
            order.append((first, household))
    for _, household in sorted(order):
        firm = economy.employer[household]
        if economy.payroll[firm] > economy.cash[firm]:
            economy.payroll[firm] -= economy.wage[household]
            dismiss(economy, household, 0)
            economy.tally[flows.FIRED_MONEY] += 1


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
    if config.hiring == "rounds":
        for turn in range(config.max_m):
            hire_in_turn(config, economy, seekers, keys, turn)
    else:
        hire_one_by_one(config, economy, seekers, keys)

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
        factor = 1.0 + economy.infl
        if config.min_wage == "up":
            factor = max(factor, 1.0)
        economy.min_pay = int(min(economy.min_pay * factor, config.top))
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
        for k in range(config.max_m):
            keys.append(words[config.max_m + k])


def hire(config, economy, household, firm):
    """Let a firm take an applicant, at the wage that it offers."""
    economy.employer[household] = firm
    economy.wage[household] = economy.offer[firm]
    economy.left[household] = config.contract
    economy.returning[household] = 0
    economy.staff[firm] += 1
    economy.vacancies[firm] -= 1
    economy.tally[flows.HIRED] += 1


def hire_in_turn(config, economy, seekers, keys, turn):
    """Let all still without a job send one application; firms take the first in a drawn order."""
    order: list[int] = Bounded(config.households)
    for k, household in enumerate(seekers):
        firm = economy.apply[household][turn]
        if economy.employer[household] < 0 and firm >= 0 and economy.vacancies[firm] > 0:
            order.append(placed(keys[k * config.max_m + turn], household))
    match_in_order(
        order,
        lambda j: economy.apply[j][turn],
        economy.vacancies,
        lambda j, i: hire(config, economy, j, i),
    )


def hire_one_by_one(config, economy, seekers, keys):
    """Let households take, in a drawn order, the first firm that has a vacancy left."""
    order: list[int] = Bounded(config.households)
    for k, household in enumerate(seekers):
        order.append(placed(keys[k * config.max_m], household))
    match_one_by_one(
        order, economy.apply, economy.vacancies, lambda j, i: hire(config, economy, j, i)
    )
