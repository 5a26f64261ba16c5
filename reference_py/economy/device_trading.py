"""How do two agents trade devices: what is for sale, what it is worth, and what is paid.

Source: docs/model.md, "Device trade". A device is paid with a bundle of resources. A seller sells
what it can make; it need not have made it. A meeting draws no random numbers, and no agent is in
two meetings of a round.
"""

from reference_py.economy import valuation
from reference_py.economy.curves import gain, loss, marginal_utility, utility_curve
from reference_py.economy.end_day import refresh
from reference_py.economy.knowledge import know_components
from reference_py.economy.own_use import remember_price
from reference_py.economy.promises import reserve, unreserve
from reference_py.economy.trading import menu


def device_trading(p, s, device):
    """Hold all meetings of a round; see `device_matching`."""
    if not s.market_open:
        return
    for first in range(0, p.agents - 1, 2):
        a, b = s.device_partners[first], s.device_partners[first + 1]
        if s.alive[a] and s.alive[b]:
            meet(p, s, device, a, b)


def meet(p, s, device, first, second):
    """Let the first buy, then the second, and so on; who succeeds may try again.

    When both have failed in turn, nothing has changed and nothing will: the rest is left out.
    """
    buyer, seller, failures = first, second, 0
    for _ in range(p.device.attempts):
        if deal(p, s, device, buyer, seller):
            failures = 0
        else:
            buyer, seller, failures = seller, buyer, failures + 1
        if failures == 2:
            return


def deal(p, s, device, buyer, seller):
    """Let one agent buy one device from the other; return whether it did."""
    goods = for_sale(p, s, device, seller)
    offered = sorted(menu(p, s, buyer))
    if not goods or not offered:
        return False
    pick, worth = choice(p, s, device, buyer, goods)
    if pick is None:
        return False
    cost = valuation.costs(p, s, seller, device)[0][pick]
    units = payment(p, s, buyer, seller, offered, worth, cost)
    paid = received = 0.0
    for r in offered:
        paid += loss(utility_curve(p, buyer, r), s.held[buyer][r], units[r])
        received += gain(utility_curve(p, seller, r), s.held[seller][r], units[r])
    if not (paid < worth and cost < received):
        return False
    hand_over(p, s, device, buyer, seller, pick)
    for r in offered:
        s.held[buyer][r] -= units[r]
        s.held[seller][r] += units[r]
        s.units_paid[buyer] += units[r]
    for agent in (buyer, seller):
        for r in range(p.resources):
            refresh(p, s, agent, r)
    s.partner_memory[seller][device][buyer][0] += received - cost
    s.partner_memory[buyer][device][seller][0] += worth - paid
    remember_price(s, buyer, device, pick, paid)
    remember_price(s, seller, device, pick, -(received - cost))
    s.bought[buyer][pick] = 1
    s.devices_sold[seller][device] += 1
    return True


def for_sale(p, s, device, seller):
    """Return the resources, ascending, for which the seller can make the device.

    What it bought itself in this round it does not sell on.
    """
    return [
        r
        for r in range(p.resources)
        if not s.bought[seller][r] and valuation.can_make(p, s, seller, device, r)
    ]


def choice(p, s, device, buyer, goods):
    """Return which good the buyer wants most and what it is worth to it; (None, 0) if none.

    A promise that it would have to keep itself is worth at least what keeping it costs.
    """
    cost, _ = valuation.costs(p, s, buyer, device)
    pick, best = None, 0.0
    for r in goods:
        worth = valuation.buyers_value(p, s, buyer, device, r, cost[r])
        if s.to_make[buyer][device][r] > 0:
            worth = max(worth, cost[r])
        if worth > best:
            pick, best = r, worth
    return pick, best


def payment(p, s, buyer, seller, offered, worth, cost):
    """Return the units of each resource to be paid: between the least and the most acceptable.

    Weighted by bargaining power; halves are rounded up, and nobody pays more than it holds.
    """
    least = least_accepted(p, s, seller, offered, s.held[buyer], cost)
    most = most_given(p, s, buyer, offered, worth)
    power = p.device.trade_power
    buyers, sellers = power[p.group_of_agent[buyer]], power[p.group_of_agent[seller]]
    units = [0] * p.resources
    for r in offered:
        if buyers == sellers:
            middle = (least[r] + most[r] + 1) // 2
        else:
            weighted = float(least[r]) * buyers + float(most[r]) * sellers
            middle = int(weighted / (buyers + sellers) + 0.5)
        units[r] = min(s.held[buyer][r], middle)
    return units


def least_accepted(p, s, seller, offered, stock, cost):
    """Return the bundle for which the seller would just sell.

    Unit by unit of what it then values most, from what the buyer offers, until the bundle is worth
    the cost. A bundle is worth the sum over its resources, ascending.
    """
    held, bundle = s.held[seller], [0] * p.resources

    def worth():
        total = 0.0
        for r in offered:
            total += gain(utility_curve(p, seller, r), held[r], bundle[r])
        return total

    while worth() < cost:
        left = [r for r in offered if bundle[r] < stock[r]]
        if not left:
            break
        best = max(left, key=lambda r: (next_unit(p, seller, r, held[r] + bundle[r]), -r))
        bundle[best] += 1
    return bundle


def most_given(p, s, buyer, offered, worth):
    """Return the largest bundle that the buyer would give.

    Unit by unit of what it then values least, as long as the bundle is worth less than the device.
    """
    held, bundle = s.held[buyer], [0] * p.resources

    def given():
        total = 0.0
        for r in offered:
            total += loss(utility_curve(p, buyer, r), held[r], bundle[r])
        return total

    while True:
        left = [r for r in offered if bundle[r] < held[r]]
        if not left:
            return bundle
        least = min(left, key=lambda r: (next_unit(p, buyer, r, held[r] - bundle[r] - 1), r))
        bundle[least] += 1
        if given() >= worth:
            bundle[least] -= 1  # this one was too much
            return bundle


def next_unit(p, agent, resource, held):
    """Return the marginal utility of one more unit if so many were held."""
    return marginal_utility(utility_curve(p, agent, resource), held)


def hand_over(p, s, device, buyer, seller, resource):
    """Move the device: from stock or as a promise, into stock or in place of a promise.

    The buyer takes it apart and learns something about it.
    """
    lifetime = p.device.lifetime[device]
    if s.device_minutes[seller][device][resource] < lifetime:
        reserve(p, s, seller, device, resource)
    else:
        s.device_minutes[seller][device][resource] -= lifetime
    experience = s.device_experience[buyer][device]
    experience[resource] = max(experience[resource], p.device.min_held_experience)
    know_components(p, s, buyer)
    if s.to_make[buyer][device][resource] > 0:
        unreserve(p, s, buyer, device, resource)
    else:
        s.device_minutes[buyer][device][resource] += lifetime
