"""How do firms find workers? Minimum wage, offers, applications, hiring, layoffs (3.3, 3.4)."""

from societies.model import Bounded
from societies.model.markets import (
    choose,
    draw_uniform,
    draw_word,
    draw_words,
    match_in_order,
    match_one_by_one,
    placed,
)  # fmt: skip
from societies.models.bam import flows


def dismiss(economy, household, returning):
    """End the contract of a household; ``returning``: 1 if it has run out."""
    firm = economy.employer[household]
    economy.former[household] = firm
    economy.employer[household] = -1
    economy.wage[household], economy.left[household] = 0, 0
    economy.returning[household] = returning
    economy.staff[firm] -= 1


def draw_lot(config, economy, quarter, household):
    """Draw the number by which a household is laid off before others."""
    economy.lot[household] = draw_word(economy.stream, config.firms + household)


def lay_off(config, economy, unpaid):
    """Dismiss excess or (``unpaid``) unpaid workers: by lot, or by wage if `layoff` is dearest."""

    def too_many(firm):
        if unpaid:
            return economy.payroll[firm] > economy.cash[firm]
        return economy.staff[firm] > economy.want[firm]

    order: list[tuple[int, int]] = Bounded(config.households)
    for household in range(config.households):
        firm = economy.employer[household]
        if firm >= 0 and too_many(firm):
            dearest = unpaid and config.layoff == "dearest"
            key = -economy.wage[household] if dearest else economy.lot[household]
            order.append((key, household))
    for _, household in sorted(order):
        firm = economy.employer[household]
        if too_many(firm):
            if unpaid:
                economy.payroll[firm] -= economy.wage[household]
            dismiss(economy, household, 0)
            economy.tally[flows.FIRED_MONEY if unpaid else flows.FIRED_EXCESS] += 1


def revise(config, economy, quarter):
    """Measure inflation up to the last quarter, and revise the minimum wage (3.4)."""
    economy.infl = 0.0
    if config.inflation == "year":
        if quarter >= 5:
            economy.infl = economy.prices[0] / economy.prices[4] - 1.0
    elif quarter >= 2:
        rise = economy.prices[0] / economy.prices[1]
        economy.infl = rise * rise * rise * rise - 1.0
    if config.min_wage != "fixed" and is_revision(config, quarter):
        infl = max(economy.infl, 0.0) if config.min_wage == "up" else economy.infl
        economy.min_pay = int(min(economy.min_pay * (1.0 + infl), config.top))


def is_revision(config, quarter):
    """Return whether the minimum wage is revised in this quarter."""
    return quarter > config.min_wage_every and (quarter - 1) % config.min_wage_every == 0


def offer(config, economy, quarter, firm):
    """Let a firm with vacancies raise the wage that it offers (3.3)."""
    xi = config.h_xi * draw_uniform(economy.stream, firm)
    if economy.vacancies[firm] > 0:
        economy.offer[firm] = int(min(economy.offer[firm] * (1.0 + xi), config.top))
    economy.offer[firm] = max(economy.offer[firm], economy.min_pay)


def search(config, economy, quarter, household):
    """Let a household without a job choose the firms to apply to: the best offers of a sample.

    It also draws a number for each round, which orders applicants. Wages of others are raised to a
    new minimum wage.
    """
    most, every = config.max_m, config.search_pool == "all"
    words = draw_words(economy.stream, config.firms + household, 2 * most)
    for k in range(most):
        economy.apply[household][k], economy.keys[household][k] = -1, words[most + k]
    if economy.employer[household] >= 0:
        if config.raise_contracts == "yes" and is_revision(config, quarter):
            economy.wage[household] = max(economy.wage[household], economy.min_pay)
        return
    n = config.firms if every else sum(int(places > 0) for places in economy.vacancies)
    if n == 0:
        return
    taken: list[int] = Bounded(most)
    drawn: list[int] = Bounded(most)
    choose(words, n, min(most, n), taken, drawn)
    seen = [k if every else with_vacancies(economy, k) for k in drawn]
    best = sorted(seen, key=lambda firm: -economy.offer[firm])
    firms = Bounded(most, best)
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


def with_vacancies(economy, k):
    """Return the k-th firm of those with vacancies."""
    firm = 0
    while k > 0 or economy.vacancies[firm] == 0:
        k -= int(economy.vacancies[firm] > 0)
        firm += 1
    return firm


def labour(config, economy, quarter):
    """Match the unemployed with vacancies, and add up the wages of every firm (3.3)."""
    seekers = [j for j in range(config.households) if economy.employer[j] < 0]
    for turn in range(config.max_m if config.hiring == "rounds" else 1):
        match_workers(config, economy, seekers, turn)
    for firm in range(config.firms):
        economy.payroll[firm] = 0
    for household in range(config.households):
        if economy.employer[household] >= 0:
            economy.payroll[economy.employer[household]] += economy.wage[household]


def pay(config, economy, quarter, household):
    """Pay a household its wage, and shorten its contract by a quarter."""
    economy.paid[household] = economy.wage[household]
    economy.income[household] += economy.wage[household]
    economy.left[household] -= int(economy.employer[household] >= 0)


def hire(config, economy, household, firm):
    """Let a firm take an applicant, at the wage that it offers."""
    economy.employer[household] = firm
    economy.wage[household], economy.left[household] = economy.offer[firm], config.contract
    economy.returning[household] = 0
    economy.staff[firm] += 1
    economy.vacancies[firm] -= 1
    economy.tally[flows.HIRED] += 1


def match_workers(config, economy, seekers, turn):
    """Let seekers in a drawn order apply to the firm of this turn, or go through their lists.

    With `hiring` one_by_one each takes the first firm of its list that has a vacancy left.
    """
    order: list[int] = Bounded(config.households)
    for household in seekers:
        firm = economy.apply[household][turn]
        applies = firm >= 0 and economy.vacancies[firm] > 0 and economy.employer[household] < 0
        if applies or config.hiring == "one_by_one":
            order.append(placed(economy.keys[household][turn], household))
    lists, places = economy.apply, economy.vacancies
    if config.hiring == "one_by_one":
        match_one_by_one(order, lists, places, lambda j, i: hire(config, economy, j, i))
    else:
        match_in_order(
            order, lambda j: lists[j][turn], places, lambda j, i: hire(config, economy, j, i)
        )
