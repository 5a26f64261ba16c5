"""What do two agents swap when they meet? Menus, ranking, offers and prices of the market.

Source: docs/model.md, "The resource market". A is the agent at the even position; it always makes
the first proposal. In a bargain (b, a), A gives b and receives a. A meeting draws no random
numbers, and no agent is in two meetings of a round.
Device twins: ``kernels/economy/trading.cl``, ``kernels/economy/meetings.cl``,
``kernels/economy/bargaining.cl`` and ``kernels/economy/menu.cl``.
"""

import math

from reference_py.economy.curves import gain, loss, marginal_utility, utility_curve
from reference_py.economy.end_day import refresh
from reference_py.economy.limits import limited, tradable
from reference_py.economy.listener import notify
from reference_py.economy.measures import account_swap
from reference_py.economy.network import link_swap
from reference_py.primitives.select import n_smallest
from reference_py.primitives.softmath import soft_exp, soft_log

MANY = 4_000_000_000_000_000_000  # more units than any agent can hold


def trading(p, s, market_round):
    """Hold all meetings of a round; see `matching`."""
    order = s.partners[market_round]
    for first in range(0, p.agents - 1, 2):
        a, b = order[first], order[first + 1]
        if s.alive[a] and s.alive[b]:
            meet(p, s, a, b)


def meet(p, s, agent_a, agent_b):
    """Let two agents trade until their proposals or their attempts run out."""
    sell_a, sell_b, queue = set(), set(), []

    def extend(attempt):
        """Rank what could be swapped and queue the most promising; False if nothing could."""
        menu_a, menu_b = menu(p, s, agent_a), menu(p, s, agent_b)
        sell_a.update(menu_a - menu_b)  # the sets grow over the meeting
        sell_b.update(menu_b - menu_a)
        refused = nothing_to_swap({agent_a: menu_a, agent_b: menu_b}, sell_a, sell_b)
        if s.listener is not None:
            menus = {"menu_a": sorted(menu_a), "menu_b": sorted(menu_b)}
            notify(s, "meeting", a=agent_a, b=agent_b, attempt=attempt, **menus, refused=refused)
        if refused is None:
            queue.extend(ranked(p, s, agent_a, agent_b, sorted(sell_a), sorted(sell_b), attempt))
        return refused is None

    attempt = 0
    if not extend(attempt):
        return
    while attempt < p.attempts and queue:
        give, take = queue.pop(0)
        if bargain(p, s, agent_a, agent_b, give, take):
            attempt += 1
            if attempt >= p.attempts or not extend(attempt):
                return
        else:
            attempt += 1


def menu(p, s, agent):
    """Return the held resources that the agent remembers as least valuable, as a set."""
    masked = [tradable(p, s, agent, r) == 0 for r in range(p.resources)]
    return {r for r in n_smallest(s.value[agent], masked, p.menu_size) if r is not None}


def nothing_to_swap(menus, sell_a, sell_b):
    """Return why there is nothing to swap, None if there is something; ``menus`` by agent."""
    if sell_a and sell_b:
        return None
    empty = tuple(agent for agent, menu in menus.items() if not menu)
    if empty:
        return "held nothing to offer", empty
    return "the offers left nothing to swap", ()


def ranked(p, s, agent_a, agent_b, sell_a, sell_b, attempt):
    """Return the pairs (give, take) of the highest scores, alternately those of A and of B."""
    pairs = [(give, take) for give in sell_a for take in sell_b]
    score_a = [score(p, s, agent_a, take, give) for give, take in pairs]
    score_b = [score(p, s, agent_b, give, take) for give, take in pairs]
    choice = p.rule("trading.choice", no_preference)
    rank_a = [choice(wanted=take, given=give) for give, take in pairs]
    rank_b = [choice(wanted=give, given=take) for give, take in pairs]
    left = list(range(len(pairs)))
    picks = []
    for i in range(min(p.attempts, len(pairs))):
        scores, rank = (score_a, rank_a) if i % 2 == attempt % 2 else (score_b, rank_b)
        best = max(left, key=lambda c: (scores[c], -rank[c], -c))
        left.remove(best)
        picks.append(pairs[best])
    return picks


def score(p, s, agent, wanted, given):
    """Return how promising a swap is to an agent, from what it knows alone."""
    value = s.value[agent][wanted]
    last = marginal_utility(utility_curve(p, agent, given), s.held[agent][given] - 1)
    held = {"wanted_held": s.held[agent][wanted], "given_held": s.held[agent][given]}
    found = p.rule("trading.score", relative_value)(value=value, last=last, **held)
    return found if found > 0.0 else 0.0


def relative_value(value, last, wanted_held, given_held):
    """Return the remembered value of the wanted resource over that of the last unit given."""
    if last == 0.0:
        return 0.0 if value == 0.0 else math.inf
    return value / last


def no_preference(wanted, given):
    """Return 0: of swaps with equal scores the one with the lowest resource numbers is first."""
    return 0


def bargain(p, s, agent_a, agent_b, give, take):
    """Let A, then B, propose quantities; carry out the first that both gain from."""
    held_a, held_b = s.held[agent_a], s.held[agent_b]
    stock = (tradable(p, s, agent_a, give), tradable(p, s, agent_b, take))
    if 0 in stock:
        lacks = held_a[give] == 0 or held_b[take] == 0
        why = "no longer holds the resource" if lacks else "may give no more of the resource today"
        refused = f"one of the two {why}", ()
        notify(s, "bargain", a=agent_a, b=agent_b, give=give, take=take, refused=refused)
        return False
    curve_a_give, curve_a_take = (utility_curve(p, agent_a, r) for r in (give, take))
    curve_b_give, curve_b_take = (utility_curve(p, agent_b, r) for r in (give, take))

    def surplus_a(taken, given):
        return gain(curve_a_take, held_a[take], taken) - loss(curve_a_give, held_a[give], given)

    def surplus_b(taken, given):
        return gain(curve_b_give, held_b[give], given) - loss(curve_b_take, held_b[take], taken)

    most_a = marginal_utility(curve_a_take, held_a[take]) / marginal_utility(
        curve_a_give, held_a[give] - 1
    )
    least_b = marginal_utility(curve_b_take, held_b[take] - 1) / marginal_utility(
        curve_b_give, held_b[give]
    )
    power_a, power_b = (p.trade_power[p.group_of_agent[x]] for x in (agent_a, agent_b))
    limits = {"most_a": most_a, "least_b": least_b, "power_a": power_a, "power_b": power_b}
    rate = p.rule("trading.price", price)(rule=p.price, **limits)
    if not 0.0 < rate < math.inf:  # a user's rule: no price, at which nothing can be proposed
        rate = math.nan
    rate = limited(p, give, take, rate)
    if s.listener is not None:
        more_a = [marginal_utility(curve_a_give, held_a[give])]
        more_a.append(marginal_utility(curve_a_take, held_a[take]))
        more_b = [marginal_utility(curve_b_give, held_b[give])]
        more_b.append(marginal_utility(curve_b_take, held_b[take]))
        terms = {"most_a": most_a, "least_b": least_b, "rate": rate}
        values = {"value_a": more_a, "value_b": more_b}
        notify(s, "bargain", a=agent_a, b=agent_b, give=give, take=take, **terms, **values)
    agents = (agent_a, agent_b)
    for by, surplus in zip(agents, (surplus_a, surplus_b), strict=True):
        taken, given, best = proposal(surplus, rate, *stock, p.min_surplus)
        gain_a = best if by == agent_a else surplus_a(taken, given)
        gain_b = best if by == agent_b else surplus_b(taken, given)
        gains, owned = (gain_a, gain_b), (held_a[give], held_b[take])
        refused = refusal(agents, stock, (given, taken), gains, p.min_surplus, owned)
        if s.listener is not None:
            offer = {"given": given, "taken": taken, "surplus_a": gain_a, "surplus_b": gain_b}
            notify(s, "proposal", by=by, **offer, refused=refused)
        if refused is None:
            held_b[take] -= taken
            held_a[take] += taken
            held_a[give] -= given
            held_b[give] += given
            for agent in (agent_a, agent_b):
                refresh(p, s, agent, give)
                refresh(p, s, agent, take)
            s.units_sold[agent_a] += given
            s.units_sold[agent_b] += taken
            if p.group_of_agent[agent_a] != p.group_of_agent[agent_b]:
                s.units_sold_outside[agent_a] += given
                s.units_sold_outside[agent_b] += taken
            s.deals[agent_a] += 1
            if p.measures:
                account_swap(p, s, agent_a, give, given, take, taken, gain_a)
                account_swap(p, s, agent_b, take, taken, give, given, gain_b)
            if p.policies:
                s.units_given[agent_a][give] += given
                s.units_received[agent_b][give] += given
                s.units_given[agent_b][take] += taken
                s.units_received[agent_a][take] += taken
            if p.network:
                link_swap(s, agent_a, agent_b, given)
                link_swap(s, agent_b, agent_a, taken)
            if s.listener is not None:
                value_a = [s.value[agent_a][give], s.value[agent_a][take]]
                value_b = [s.value[agent_b][give], s.value[agent_b][take]]
                notify(s, "swap", value_a_after=value_a, value_b_after=value_b)
            return True
    return False


def refusal(agents, stock, gives, gains, min_surplus, owned=None):
    """Return why a proposal is not carried out; None if it is.

    Parameters
    ----------
    agents, stock, gives, gains : (A's, B's)
        Who they are, what each may give, would give, and would gain.
    min_surplus : float, util
    owned : (A's, B's), what each holds of what it gives, if that may be more than it may give
    """
    for i in (1, 0):
        if gives[i] > stock[i]:
            lacks = owned is None or gives[i] > owned[i]
            why = "does not have the units" if lacks else "may not give that many units today"
            return why, agents[i : i + 1]
    a_gains, b_gains = gains[0] > min_surplus, gains[1] > min_surplus
    if a_gains and b_gains:
        return None
    losers = agents[1:] if a_gains else agents[:1] if b_gains else agents
    return "would gain too little", losers


def price(rule, most_a, least_b, power_a, power_b):
    """Return units of the taken resource for a unit of the given one.

    The geometric rule is that of Epstein and Axtell (1996): one taken unit costs the geometric
    mean of what the buyer would pay at most and the seller accept at least.
    """
    if rule == "unit":
        return 1.0
    if power_a == power_b:
        mean = math.sqrt(most_a * least_b)
    else:
        weighted = power_b * soft_log(most_a) + power_a * soft_log(least_b)
        mean = soft_exp(weighted / (power_a + power_b))
    return 1.0 / mean if rule == "geometric" else mean


def proposal(surplus, rate, stock_given, stock_taken, min_surplus):
    """Return the quantities taken and given that are best for the proposer, and its surplus.

    The quantities that the rate allows are tried in order: 1, 2, ... units given. The search stops
    before the first quantity whose surplus is too small, and does not try the last one before
    that. The smallest of equal offers is chosen.
    """
    given = rounded(1.0 / rate) if rate <= 1.0 else 1
    at = given * rate
    taken = rounded(at)
    best, best_surplus = (taken, given), surplus(taken, given)
    while (
        given + 1 <= stock_given
        and taken + 1 <= stock_taken
        and surplus(rounded(at + rate), given + 1) > min_surplus
    ):
        here = surplus(taken, given)
        if here > best_surplus:
            best, best_surplus = (taken, given), here
        given += 1
        at = given * rate
        taken = rounded(at)
    return *best, best_surplus


def rounded(x):
    """Return x to the nearest whole number, halves upwards; never more than `MANY`."""
    return int(x + 0.5) if x < MANY else MANY
