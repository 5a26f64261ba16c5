"""Which series of an economy are measured in a quarter (sections 3.3 to 3.9 of the book)?"""

import math

from societies.model import reduce_sum
from societies.models.bam import flows
from societies.models.bam.config import GRAINS


def measure(config, economy, quarter):
    """Measure how firms differ after the goods market, before they pay their debts."""
    economy.flow[flows.PURCHASES] = sum(economy.value) - sum(economy.stock)
    total = float(sum(economy.made))
    economy.price_cv = dispersion_of_prices(config, economy)
    economy.hhi = 0.0
    if total > 0.0:
        economy.hhi = reduce_sum([squared(float(x) / total) for x in economy.made])
    economy.worth_cv = dispersion([float(x) for x in economy.worth])
    sales = [float(economy.value[i] - economy.stock[i]) for i in range(config.firms)]
    economy.sales_cv = dispersion(sales)
    hedge, ponzi, hedge_first, ponzi_first, hedge_flow, soldout = 0, 0, 0, 0, 0, 0
    credit, weighted = 0, 0.0
    for i in range(config.firms):
        owed, due = sum(economy.loan[i]), sum(economy.loan_interest[i])
        hedge += int(economy.cash[i] >= owed + due)
        ponzi += int(economy.cash[i] < due)
        loan, interest = economy.loan[i][0], economy.loan_interest[i][0]
        hedge_first += int(economy.cash[i] >= loan + interest)
        ponzi_first += int(economy.cash[i] < interest)
        credit += loan
        weighted += economy.loan_rate[i][0] * float(loan)
        gross = economy.value[i] - economy.stock[i] - economy.payroll[i]
        hedge_flow += int(gross >= due)
        soldout += int(economy.stock[i] == 0)
    counted = [hedge, ponzi, hedge_first, ponzi_first, hedge_flow, soldout]
    for k, count in enumerate(counted):
        economy.tally[flows.HEDGE + k] = count
    economy.rate_first = config.policy_rate
    if credit > 0:
        economy.rate_first = weighted / float(credit)


def dispersion_of_prices(config, economy):
    """Return the standard deviation of prices over their mean, both weighted by output."""
    output = [float(made) for made in economy.made]
    total = float(sum(economy.made))
    if total == 0.0:
        return 0.0
    mean = reduce_sum([economy.price[i] * output[i] for i in range(config.firms)]) / total
    far = reduce_sum([squared(economy.price[i] - mean) * output[i] for i in range(config.firms)])
    return math.sqrt(far / total) / mean


def squared(x):
    """Return the square."""
    return x * x


def dispersion(values):
    """Return the standard deviation over the mean."""
    n = float(len(values))
    mean = reduce_sum(list(values)) / n
    if mean == 0.0:
        return 0.0
    return math.sqrt(reduce_sum([squared(x - mean) for x in values]) / n) / mean


def statistics(config, economy, quarter):
    """Fill the series of the quarter; end the run if an earlier phase asked for it."""
    households, firms = float(config.households), float(config.firms)
    balance, flow, tally = economy.balance, economy.flow, economy.tally
    measure_balances(economy)
    wage, rate = 0.0, config.policy_rate
    if tally[flows.WORKERS] > 0:
        wage = float(flow[flows.WAGES]) / float(tally[flows.WORKERS]) / GRAINS
    if flow[flows.LOANS] > 0:
        rate = economy.rate_paid / float(flow[flows.LOANS])
    if economy.cause > 0:
        economy.ended = quarter
    economy.series = {
        "unemployment": 1.0 - float(tally[flows.WORKERS]) / households,
        "inflation": economy.infl,
        "price": economy.prices[0],
        "gdp": float(tally[flows.OUTPUT]) / GRAINS,
        "productivity": economy.mean_skill / GRAINS,
        "wage": wage,
        "real_wage": wage / economy.prices[0],
        "vacancies": float(tally[flows.VACANCIES]),
        "vacancy_rate": float(tally[flows.VACANCIES]) / households,
        "failed_firms": float(tally[flows.FAILED_FIRMS]),
        "failed_banks": float(tally[flows.FAILED_BANKS]),
        "loans": float(flow[flows.LOANS]) / GRAINS,
        "rate": rate,
        "rate_first": economy.rate_first,
        "borrowers": float(tally[flows.BORROWERS]),
        "demand": float(tally[flows.DEMAND]) / GRAINS,
        "worth": float(tally[flows.WORTH]),
        "wages": float(flow[flows.WAGES]),
        "budget": float(tally[flows.BUDGET]),
        "price_cv": economy.price_cv,
        "price_cv_end": dispersion_of_prices(config, economy),
        "worth_cv": economy.worth_cv,
        "sales_cv": economy.sales_cv,
        "hedge": float(tally[flows.HEDGE]) / firms,
        "ponzi": float(tally[flows.PONZI]) / firms,
        "hedge_first": float(tally[flows.HEDGE_FIRST]) / firms,
        "ponzi_first": float(tally[flows.PONZI_FIRST]) / firms,
        "hedge_flow": float(tally[flows.HEDGE_FLOW]) / firms,
        "soldout": float(tally[flows.SOLDOUT]) / firms,
        "hhi": economy.hhi,
        "gini_savings": gini(sorted(economy.savings)),
        "hired": float(tally[flows.HIRED]),
        "fired_excess": float(tally[flows.FIRED_EXCESS]),
        "fired_money": float(tally[flows.FIRED_MONEY]),
        "expired": float(tally[flows.EXPIRED]),
        "deposits": float(balance[0] + balance[1]) / GRAINS,
        "equity": float(balance[2]) / GRAINS,
        "outside": float(economy.outside) / GRAINS,
        "dividends": float(flow[flows.DIVIDENDS]) / GRAINS,
        "default_gap": float(flow[flows.DEFAULT_GAP]) / GRAINS,
        "entry_money": float(flow[flows.ENTRIES] + flow[flows.ENTRIES_PAID]) / GRAINS,
        "exit_money": float(flow[flows.EXITS]) / GRAINS,
        "rescue": float(flow[flows.RESCUES]) / GRAINS,
        "rnd": float(flow[flows.RESEARCH] + flow[flows.RESEARCH_PAID]) / GRAINS,
        "tax": float(flow[flows.TAX]) / GRAINS,
        "discrepancy": float(sum(balance) - money_at_start(config)),
    }


def money_at_start(config):
    """Return all money before the first quarter, in grains; with money outside it stays constant.

    It is the cash of firms, the savings of households and the equity of banks set by `begin`.
    """
    made = config.households * int(config.productivity * GRAINS) // config.firms
    worth = int(config.net_worth_ratio * config.price0 * made)
    savings, equity = int(config.savings0 * GRAINS), int(config.equity0 * GRAINS)
    return config.firms * worth + config.households * savings + config.banks * equity


def measure_balances(economy):
    """Measure the money of firms, households, banks and outside."""
    economy.balance[0] = sum(economy.cash)
    economy.balance[1] = sum(economy.savings) + sum(economy.income)
    economy.balance[2] = sum(economy.equity)
    economy.balance[3] = economy.outside


def gini(savings):
    """Return the Gini coefficient of savings in ascending order."""
    n, total = len(savings), float(sum(savings))
    if total == 0.0:
        return 0.0
    weighted = reduce_sum([float(2 * k + 1 - n) * float(x) for k, x in enumerate(savings)])
    return weighted / (float(n) * total)
