"""What do firms do? They plan, produce, pay debts, do research, pay dividends, fail and enter."""

from societies.model import Rng, reduce_sum, soft_exp, soft_log
from societies.model.markets import draw_uniform, draw_word, pick, trimmed_mean
from societies.models.bam import flows
from societies.models.bam.config import GRAINS, MOST_MONEY
from societies.models.bam.labour import dismiss, lay_off
from societies.models.bam.statistics import measure_balances

MOST_SKILL = 1 << 40
MOST_OUTPUT = float(1 << 60)
ERROR_OF_REALS = 1.0000003141592654
"""Fills the digits of a productivity, whose power of two stays: only the errors of a division of
real numbers depend on it."""


def begin(config, economy, quarter):
    """Give every agent a random stream and what it has before the first quarter."""
    for agent in range(config.agents):
        number = (economy.index * config.agents + agent) * 4
        economy.stream[agent] = Rng.seed(config.stream_base, config.stream_gap, number).pack()
    skill = int(config.productivity * GRAINS)
    made = config.households * skill // config.firms
    offer = config.price0 * config.wage0_ratio
    for firm in range(config.firms):
        economy.price[firm], economy.offer[firm] = config.price0, int(offer * GRAINS)
        economy.skill[firm], economy.made[firm] = skill, made
        economy.worth[firm] = int(config.net_worth_ratio * config.price0 * made)
        economy.cash[firm] = economy.worth[firm]
    economy.min_pay = int(offer * config.min_wage_ratio * GRAINS)
    for household in range(config.households):
        economy.savings[household] = int(config.savings0 * GRAINS)
    for bank in range(config.banks):
        economy.equity[bank] = int(config.equity0 * GRAINS)
    for k in range(5):
        economy.prices[k] = config.price0
    measure_balances(economy)


def target(config, economy, quarter, firm):
    """Let a firm change its output or its price, and plan the workers for it (3.2, 3.3)."""
    rho = config.h_rho * draw_uniform(economy.stream, firm)
    eta = config.h_eta * draw_uniform(economy.stream, firm)
    sold_out = economy.stock[firm] == 0
    price = economy.price[firm]
    dear = price >= economy.prices[0]
    made = economy.made[firm]
    planned = made
    if sold_out and dear:
        planned = int(made * (1.0 + rho))
    elif not sold_out and not dear:
        planned = int(made * (1.0 - rho))
    economy.plan[firm] = planned
    floor = 0.0
    if config.price_floor != "none" and planned > 0:
        floor = float(economy.payroll[firm] + economy.interest[firm]) / float(planned)
    if sold_out and not dear:
        economy.price[firm] = max(price * (1.0 + eta), floor)
    elif dear and not sold_out:
        if config.price_floor == "cost_capped":
            floor = min(floor, price)
        economy.price[firm] = max(price * (1.0 - eta), floor)
    economy.want[firm] = workers_for(config, planned, economy.skill[firm], made)
    economy.vacancies[firm] = max(economy.want[firm] - economy.staff[firm], 0)


def plan(config, economy, quarter):
    """Set all sums of the quarter to 0, and lay off the workers that firms do not want."""
    for k in range(len(economy.flow)):
        economy.flow[k] = 0
    for k in range(len(economy.tally)):
        economy.tally[k] = 0
    economy.rate_paid = 0.0
    economy.tally[flows.VACANCIES] = sum(economy.vacancies)
    lay_off(config, economy, unpaid=False)


def workers_for(config, planned, skill, made):
    """Return the workers that a firm wants for its planned output."""
    if config.labour_rounding == "down":
        return max(planned // skill, 1)
    if config.labour_rounding == "nearest":
        return max((2 * planned + skill) // (2 * skill), 1)
    wanted = (planned + skill - 1) // skill
    if config.labour_rounding == "reals" and planned == made and planned % skill == 0:
        f, n = skill * ERROR_OF_REALS, float(wanted)
        if f * n / f > n:
            wanted += 1
    return wanted


def make(config, economy, quarter, firm):
    """Let a firm pay wages and make goods."""
    economy.cash[firm] -= economy.payroll[firm]
    economy.made[firm] = economy.skill[firm] * economy.staff[firm]
    economy.value[firm] = int(min(economy.price[firm] * economy.made[firm], config.top))
    economy.stock[firm] = economy.value[firm]


def produce(config, economy, quarter):
    """Measure the average price, and end contracts that expire."""
    value, made = sum(economy.value), sum(economy.made)
    for k in range(4, 0, -1):
        economy.prices[k] = economy.prices[k - 1]
    if config.mean_price == "plain":
        economy.prices[0] = reduce_sum(economy.price) / float(config.firms)
    elif value > 0 and made > 0:
        economy.prices[0] = float(value) / float(made)
    economy.flow[flows.WAGES] = sum(economy.paid)
    economy.tally[flows.WORKERS] = sum(int(firm >= 0) for firm in economy.employer)
    for household in range(config.households):
        if economy.employer[household] >= 0 and economy.left[household] == 0:
            dismiss(economy, household, 1)
            economy.tally[flows.EXPIRED] += 1
    economy.mean_savings = float(sum(economy.savings)) / float(config.households)


def settle(config, economy, quarter):
    """Let firms pay their debts, invest in research, and pay dividends."""
    shared = 0  # what all households share
    for firm in range(config.firms):
        z = draw_uniform(economy.stream, firm)
        owed, due = sum(economy.loan[firm]), sum(economy.loan_interest[firm])
        shared += pay_debts(config, economy, firm, owed, due)
        profit = economy.value[firm] - economy.stock[firm] - economy.payroll[firm] - due
        tax = int(config.tax * max(profit, 0))
        move_outside(economy, firm, tax, flows.TAX)
        profit -= tax
        if config.growth:
            spent = research(config, economy, firm, profit, owed, z)
            profit -= spent
            if config.rnd_money == "households":
                shared += spent
        paid = int(config.dividends * max(profit, 0))
        economy.profit[firm], economy.retained[firm] = profit, profit - paid
        economy.cash[firm] -= paid
        economy.flow[flows.DIVIDENDS] += paid
        shared += paid
    each, rest = shared // config.households, shared % config.households
    for household in range(config.households):
        share = each + 1 if household < rest else each
        if config.dividend_to == "savings":
            economy.savings[household] += share
        else:
            economy.income[household] += share
    measure_productivity(config, economy)


def move_outside(economy, firm, amount, payment):
    """Let money of a firm leave the economy."""
    economy.cash[firm] -= amount
    economy.outside += amount
    economy.flow[payment] += amount


def pay_debts(config, economy, firm, owed, due):
    """Let a firm pay its loans and interest, or default; return what banks pay to households."""
    shared, back = 0, 0
    pays = economy.cash[firm] >= owed + due
    for turn in range(config.max_h):
        loan, bank = economy.loan[firm][turn], economy.loan_bank[firm][turn]
        if loan == 0:
            continue
        economy.loan[firm][turn] = 0
        if pays:
            interest = economy.loan_interest[firm][turn]
            paid = int(config.bank_dividends * interest)
            economy.equity[bank] += interest - paid
            economy.flow[flows.INTEREST] += interest
            shared += paid
        else:
            paid = recovered(config, economy, firm, loan, owed)
            economy.equity[bank] -= loan - paid
            economy.flow[flows.WRITTEN_OFF] += loan - paid
            back += paid
    if pays:
        economy.cash[firm] -= owed + due
        economy.flow[flows.REPAID] += owed
    else:
        economy.cash[firm] -= back
        economy.flow[flows.REPAID] += back
        move_outside(economy, firm, economy.cash[firm], flows.DEFAULT_GAP)
    economy.flow[flows.BANK_DIVIDENDS] += shared
    return shared


def recovered(config, economy, firm, loan, owed):
    """Return the part of a loan that a lender gets back from a firm in default."""
    if config.recovery == "none":
        return 0
    base = economy.cash[firm] if config.recovery == "cash" else economy.worth[firm]
    if base <= 0:
        return 0
    return min(int(float(loan) / float(owed) * base), loan)


def research(config, economy, firm, profit, owed, z):
    """Let a firm spend a share of its profit on research, which raises productivity (3.8)."""
    if profit <= 0:
        return 0
    debt = economy.payroll[firm] if config.rnd_fragility == "wages" else owed
    worth, value = economy.worth[firm], economy.value[firm]
    fragility = float(debt) / float(worth) if worth > 0 else 0.0
    spread = config.sigma_max - config.sigma_min
    sigma = config.sigma_min + spread * soft_exp(config.sigma_decay * fragility)
    mean = sigma * profit / float(value) if value > 0 else 0.0
    if mean > 0.0:
        gain = int(min(mean * -soft_log(1.0 - z) * GRAINS, float(MOST_SKILL)))
        economy.skill[firm] = min(economy.skill[firm] + gain, MOST_SKILL)
    spent = int(sigma * profit)
    if config.rnd_money == "lost":
        move_outside(economy, firm, spent, flows.RESEARCH)
    else:
        economy.cash[firm] -= spent
        economy.flow[flows.RESEARCH_PAID] += spent
    return spent


def measure_productivity(config, economy):
    """Measure productivity after research, the mean over firms weighted by output."""
    made = sum(economy.made)
    economy.tally[flows.OUTPUT] = made
    weighted = reduce_sum([float(economy.skill[i]) * float(x) for i, x in enumerate(economy.made)])
    economy.mean_skill = weighted / float(made) if made > 0 else 0.0


def leave(config, economy, quarter):
    """Let firms without net worth or output and banks without equity fail."""
    economy.tally[flows.WORTH] = sum(economy.worth)
    for firm in range(config.firms):
        economy.worth[firm] += economy.retained[firm]
        idle = config.exit_rule == "worth_or_output" and economy.made[firm] == 0
        failed = economy.worth[firm] <= 0 or idle
        economy.failed[firm] = int(failed)
        if not failed:
            continue
        economy.tally[flows.FAILED_FIRMS] += 1
        economy.payroll[firm], economy.interest[firm] = 0, 0
        for turn in range(config.max_h):
            economy.loan_interest[firm][turn] = 0
            economy.loan_bank[firm][turn] = -1
        move_outside(economy, firm, economy.cash[firm], flows.EXITS)
    for household in range(config.households):
        firm = economy.employer[household]
        if firm >= 0 and economy.failed[firm] == 1:
            dismiss(economy, household, 0)
            economy.former[household] = -1
    economy.tally[flows.FAILED_BANKS] = sum([int(equity <= 0) for equity in economy.equity])
    for firm in range(config.firms):
        for turn in range(config.max_h):
            bank = economy.loan_bank[firm][turn]
            if bank >= 0 and economy.equity[bank] <= 0:
                economy.interest[firm] -= economy.loan_interest[firm][turn]
                economy.loan_interest[firm][turn] = 0
                economy.loan_bank[firm][turn] = -1


def enter(config, economy, quarter):
    """Replace failed firms by small ones, failed banks by copies; ask to end if none is left."""
    gone = economy.tally[flows.FAILED_FIRMS]
    some = 0 < gone < config.firms
    stay = [firm for firm in range(config.firms) if some and economy.failed[firm] == 0]
    worths = sorted([economy.worth[firm] for firm in stay])
    outputs = sorted([economy.made[firm] for firm in stay])
    work = economy.employer
    wages = sorted([wage for j, wage in enumerate(economy.wage) if some and work[j] >= 0])
    if some:
        enter_firms(config, economy, stay, worths, outputs, wages)
    sound = [bank for bank in range(config.banks) if economy.equity[bank] > 0]
    if gone == config.firms or len(sound) == 0:
        economy.cause = 1
    for bank in range(config.banks):
        word = draw_word(economy.stream, config.firms + config.households + bank)
        if economy.equity[bank] <= 0 and len(sound) > 0:
            brought = economy.equity[sound[pick(word, len(sound))]] - economy.equity[bank]
            economy.equity[bank] += brought
            economy.outside -= brought
            economy.flow[flows.RESCUES] += brought
            economy.supply[bank], economy.rate[bank] = 0, 0.0
    total = sum(economy.cash) + sum(economy.savings) + sum(economy.income)
    total += sum(abs(equity) for equity in economy.equity) + abs(economy.outside)
    if total > MOST_MONEY:
        economy.cause = 2


def enter_firms(config, economy, stay, worths, outputs, wages):
    """Replace each failed firm by a small one; its size follows means over surviving firms."""
    worth = int(min(config.entry_size * trimmed_mean(worths, 20), config.top))
    made = int(min(config.entry_production * trimmed_mean(outputs, 20), MOST_OUTPUT))
    offer = int(min(config.entry_wage * trimmed_mean(wages, 20), config.top))
    skill = 0
    if config.entry_productivity == "mean":
        skill = int(trimmed_mean(sorted([economy.skill[firm] for firm in stay]), 20))
    for firm in range(config.firms):
        if economy.failed[firm] == 0:
            continue
        economy.worth[firm], economy.cash[firm] = worth, worth
        given = collect(config, economy, worth) if config.entry_money == "households" else 0
        economy.outside -= worth - given
        economy.flow[flows.ENTRIES] += worth - given
        economy.flow[flows.ENTRIES_PAID] += given
        economy.made[firm], economy.value[firm], economy.stock[firm] = made, 0, 0
        economy.price[firm] = economy.prices[0] * config.entry_markup
        economy.offer[firm] = max(offer, economy.min_pay)
        economy.plan[firm], economy.want[firm], economy.vacancies[firm] = 0, 0, 0
        economy.demand[firm], economy.fragility[firm] = 0, 0.0
        economy.profit[firm], economy.retained[firm] = 0, 0
        if config.entry_productivity == "mean":
            economy.skill[firm] = skill


def collect(config, economy, worth):
    """Let households pay for an entrant in proportion to their savings; return what they paid."""
    savings = sum(economy.savings)
    share, missing = float(worth) / float(max(savings, 1)), min(worth, savings)
    for rest in (False, True):  # what the shares, cut to whole grains, leave: from household 0 on
        for household in range(config.households):
            saved = economy.savings[household]
            paid = min(saved if rest else int(share * saved), saved, missing)
            economy.savings[household] -= paid
            missing -= paid
    return min(worth, savings)
