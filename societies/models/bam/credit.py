"""How do banks lend to firms that cannot pay their wages (3.5)?"""

from societies.model import Bounded
from societies.model.markets import choose, draw_uniform, draw_words, ration_in_order
from societies.models.bam import flows
from societies.models.bam.labour import lay_off

LARGEST = 4611686018427387904.0  # 2**62


def credit(config, economy, quarter):
    """Grant loans in rounds; firms without enough money for their wages then lay off workers."""
    for bank in range(config.banks):
        phi = config.h_phi * draw_uniform(economy.stream, config.firms + config.households + bank)
        economy.cost[bank] = phi
        economy.rate[bank] = config.policy_rate * (1.0 + phi)
        supply = max(economy.equity[bank], 0) / config.capital
        economy.supply[bank] = int(min(supply, LARGEST))

    asked = [[-1] * config.max_h for _ in range(config.firms)]
    borrowers = demand_credit(config, economy, asked)
    for turn in range(config.max_h):
        lend_in_turn(config, economy, asked, borrowers, turn)
    economy.tally[flows.BORROWERS] = sum([int(max(loans) > 0) for loans in economy.loan])
    lay_off(config, economy, unpaid=True)


def demand_credit(config, economy, asked):
    """Let firms ask banks for missing cash; return (rank, firm) of these firms.

    The firms are in the order in which banks serve them; the row of a firm in ``asked`` gets its
    banks, the cheapest first.
    """
    borrowers: list[tuple[float, int]] = Bounded(config.firms)
    lenders = [bank for bank in range(config.banks) if economy.supply[bank] > 0]
    for firm in range(config.firms):
        for turn in range(config.max_h):
            economy.loan_bank[firm][turn] = -1
            economy.loan[firm][turn], economy.loan_interest[firm][turn] = 0, 0
            economy.loan_rate[firm][turn] = 0.0
        economy.interest[firm] = 0
        demand = max(economy.payroll[firm] - economy.cash[firm], 0)
        economy.demand[firm] = demand
        economy.tally[flows.DEMAND] += demand
        worth = economy.worth[firm]
        economy.fragility[firm] = float(demand) / float(worth) if worth > 0 else config.leverage_cap
        words = draw_words(economy.stream, firm, config.max_h + 1)
        if demand == 0:
            continue
        taken: list[int] = Bounded(config.max_h)
        drawn: list[int] = Bounded(config.max_h)
        choose(words, len(lenders), min(config.max_h, len(lenders)), taken, drawn)
        for k, found in enumerate(sorted(drawn, key=lambda found: economy.rate[lenders[found]])):
            asked[firm][k] = lenders[found]
        if config.credit_order == "fragility":
            borrowers.append((economy.fragility[firm], firm))
        elif config.credit_order == "worth":
            borrowers.append((-worth, firm))
        else:
            borrowers.append((words[config.max_h], firm))
    return sorted(borrowers)


def lend_in_turn(config, economy, asked, borrowers, turn):
    """Let each firm that still wants credit ask one bank; banks serve firms in their order."""
    ration_in_order(
        borrowers,
        lambda i: asked[i][turn],
        economy.demand,
        economy.supply,
        lambda i, bank, most: lend(config, economy, bank, i, turn, most),
    )


def lend(config, economy, bank, firm, turn, most):
    """Let a bank lend ``most``, the smaller of demand and supply, or less if the cap binds."""
    amount = most
    if config.loan_cap > 0.0:
        amount = min(amount, int(min(config.loan_cap * economy.worth[firm], LARGEST)))
    if amount <= 0:
        return
    leverage = min(economy.fragility[firm], config.leverage_cap)
    rate = config.policy_rate * (1.0 + economy.cost[bank] * leverage)
    interest = int(amount * rate)
    economy.loan[firm][turn], economy.loan_bank[firm][turn] = amount, bank
    economy.loan_rate[firm][turn] = rate
    economy.loan_interest[firm][turn] = interest
    economy.interest[firm] += interest
    economy.cash[firm] += amount
    economy.demand[firm] -= amount
    economy.supply[bank] -= amount
    economy.flow[flows.LOANS] += amount
    economy.rate_paid += float(amount) * rate
