"""How do households buy goods? Budgets, the shops that a household sees, and shopping (3.6)."""

import math

from societies.model import Bounded, soft_exp, soft_log
from societies.model.markets import choose, draw_words, placed, visit_in_order
from societies.models.bam import flows


def shopping(config, economy, quarter):
    """Let households shop in a drawn order."""
    economy.tally[flows.BUDGET] = sum(economy.budget)
    order = [placed(lot, j) for j, lot in enumerate(economy.lot) if economy.budget[j] > 0]
    order.sort()
    shops, most = economy.visit, config.max_z
    if config.shopping == "one_by_one":
        visit_in_order(order, shops, 0, most, economy.budget, economy.stock)
    else:
        for k in range(most):
            visit_in_order(order, shops, k, k + 1, economy.budget, economy.stock)
    if config.mean_price == "sales":
        measure_price(config, economy)


def save(config, economy, quarter, household):
    """Let a household save what is left of its budget."""
    economy.savings[household] += economy.budget[household]
    economy.budget[household] = 0


def goods(config, economy, quarter, firm):
    """Let a firm take the revenue of its sales."""
    economy.cash[firm] += economy.value[firm] - economy.stock[firm]


def budget(config, economy, quarter, household):
    """Let a household set its budget; savings above the mean lower the propensity (3.6)."""
    savings, income = economy.savings[household], economy.income[household]
    have, propensity = savings + income, 1.0
    if config.buffer:
        propensity = buffer_propensity(config, savings, income, economy.last_income[household])
        base = income if income > 0 else savings
        economy.budget[household] = min(int(min(propensity * base, float(have))), have)
        economy.last_income[household] = income
    else:
        if economy.mean_savings > 0.0:
            e = soft_exp(-2.0 * (savings / economy.mean_savings))
            propensity = 1.0 / (1.0 + power((1.0 - e) / (1.0 + e), config.beta))
        economy.budget[household] = min(int(propensity * have), have)
    economy.mpc[household] = propensity
    economy.savings[household] = have - economy.budget[household]
    economy.income[household] = 0


def power(h, beta):
    """Return h**beta for h from 0 to 1; halves are multiplied out, so that they are exact."""
    if h == 0.0:
        return 0.0
    twice = 2.0 * beta
    if twice <= 16.0 and float(math.floor(twice)) == twice:
        n = int(twice)
        result = 1.0
        for _ in range(n // 2):
            result *= h
        return result * math.sqrt(h) if n % 2 == 1 else result
    return soft_exp(beta * soft_log(h))


def buffer_propensity(config, savings, income, last):
    """Return the propensity to consume that brings savings near the buffer, a multiple of income.

    Section 3.9.4. It is a share of income or, without income, of savings. ``last``: earlier income.
    """
    propensity = 1.0 / config.buffer_h
    if income > 0 and last > 0:
        growth = max(float(income) / float(last) - 1.0, -0.99)
        gap = float(savings) / float(last) - config.buffer_h
        propensity = 1.0 + (gap - config.buffer_h * growth) / (1.0 + growth)
    elif income > 0:
        propensity = 1.0 - config.buffer_h + float(savings) / float(income)
    return max(propensity, 0.0)


def look(config, economy, quarter, household):
    """Let a household see its shop and others, cheapest first, and choose its next shop.

    The next shop is the largest of these firms, the cheapest of equals.
    """
    words = draw_words(economy.stream, config.firms + household, config.max_z + 1)
    economy.lot[household] = words[config.max_z]
    for k in range(config.max_z):
        economy.visit[household][k] = -1
    if economy.budget[household] == 0:
        return
    taken: list[int] = Bounded(config.max_z)
    drawn: list[int] = Bounded(config.max_z)
    if economy.shop[household] >= 0:
        drawn.append(economy.shop[household])
    choose(words, config.firms, min(config.max_z, config.firms), taken, drawn)
    seen = sorted(drawn, key=lambda firm: economy.price[firm])
    if config.loyalty == "largest":
        economy.shop[household] = max(seen, key=lambda firm: economy.made[firm])
    for k, firm in enumerate(seen):
        economy.visit[household][k] = firm


def measure_price(config, economy):
    """Measure the average price, weighted by sales."""
    sales = [economy.value[i] - economy.stock[i] for i in range(config.firms)]
    count = sum([int(min(sales[i] / economy.price[i], config.top)) for i in range(config.firms)])
    sold = sum(sales)
    if sold > 0 and count > 0:
        economy.prices[0] = float(sold) / float(count)
