"""How do two agents trade devices? What is for sale, what it is worth, and what is paid.

Source: docs/model.md, "Device trade". A device is paid with a bundle of resources. A seller sells
what it can make; it need not have made it. A meeting draws no random numbers, and no agent is in
two meetings of a round. Device twin: ``kernels/economy/device_trading.cl``.
"""

from bisect import bisect_left

from reference_py.economy import valuation
from reference_py.economy.curves import gain, loss, marginal_utility, utility_curve
from reference_py.economy.end_day import refresh
from reference_py.economy.knowledge import know_components
from reference_py.economy.listener import notify
from reference_py.economy.network import link_sale
from reference_py.economy.own_use import remember_price
from reference_py.economy.promises import reserve, unreserve
from reference_py.economy.state import NO_AGENT
from reference_py.economy.trading import menu


def device_trading(p, s, device_type):
    """Hold all meetings of a round; see `device_matching`."""
    if not s.market_open:
        return
    for first in range(0, p.agents - 1, 2):
        a, b = s.device_partners[first], s.device_partners[first + 1]
        if s.alive[a] and s.alive[b]:
            meet(p, s, device_type, a, b)


def meet(p, s, device_type, first, second):
    """Let the first buy, then the second, and so on; who succeeds may try again.

    When both have failed in turn, nothing has changed and nothing will: the rest is left out.
    """
    buyer, seller, failures = first, second, 0
    for _ in range(p.device_attempts):
        if deal(p, s, device_type, buyer, seller):
            failures = 0
        else:
            buyer, seller, failures = seller, buyer, failures + 1
        if failures == 2:
            return


def deal(p, s, device_type, buyer, seller):
    """Let one agent buy one device from the other; return whether it did."""
    goods = for_sale(p, s, device_type, seller)
    offered = sorted(menu(p, s, buyer))
    refused = nothing_to_trade(goods, offered)
    notify(
        s,
        "device_offer",
        buyer=buyer,
        seller=seller,
        device_type=device_type,
        goods=goods,
        offered=offered,
        refused=refused,
    )
    if refused is not None:
        return False
    pick, worth = choice(p, s, device_type, buyer, goods)
    refused = ("none is worth anything to the buyer", ()) if pick is None else None
    notify(s, "device_choice", resource=pick, worth=worth, refused=refused)
    if refused is not None:
        return False
    cost = valuation.costs(p, s, seller, device_type)[0][pick]
    units = payment(p, s, buyer, seller, offered, worth, cost)
    paid = received = 0.0
    for r in offered:
        paid += loss(utility_curve(p, buyer, r), s.held[buyer][r], units[r])
        received += gain(utility_curve(p, seller, r), s.held[seller][r], units[r])
    refused = refusal(worth, cost, paid, received)
    if s.listener is not None:
        price = {"units": [units[r] for r in offered], "paid": paid, "received": received}
        for side, agent in (("value_buyer", buyer), ("value_seller", seller)):
            price[side] = [
                marginal_utility(utility_curve(p, agent, r), s.held[agent][r]) for r in offered
            ]
        from_stock = in_stock(p, s, seller, device_type, pick)
        notify(s, "device_price", cost=cost, from_stock=from_stock, **price, refused=refused)
    if refused is not None:
        return False
    hand_over(p, s, device_type, buyer, seller, pick)
    for r in offered:
        s.held[buyer][r] -= units[r]
        s.held[seller][r] += units[r]
        s.units_paid[buyer] += units[r]
        if p.policies:
            s.units_given[buyer][r] += units[r]
            s.units_received[seller][r] += units[r]
        if p.group_of_agent[buyer] != p.group_of_agent[seller]:
            s.units_paid_outside[buyer] += units[r]
    for agent in (buyer, seller):
        for r in range(p.resources):
            refresh(p, s, agent, r)
    surplus_buyer, surplus_seller = worth - paid, received - cost
    remember_gain(s, seller, device_type, buyer, surplus_seller)
    remember_gain(s, buyer, device_type, seller, surplus_buyer)
    remember_price(s, buyer, device_type, pick, paid)
    remember_price(s, seller, device_type, pick, -surplus_seller)
    s.bought[buyer][pick] = 1
    s.devices_sold[seller][device_type] += 1
    if p.measures:
        s.income_sales[seller] += received
        s.spending_devices[buyer] += paid
    if p.network:
        link_sale(s, device_type, buyer, seller, sum(units))
    if s.listener is not None:
        after = {"value_buyer_after": [s.value[buyer][r] for r in offered]}
        after["value_seller_after"] = [s.value[seller][r] for r in offered]
        gains = {"surplus_buyer": surplus_buyer, "surplus_seller": surplus_seller}
        notify(s, "sale", **gains, **after)
    return True


def remember_gain(s, agent, device_type, other, surplus):
    """Add the surplus of a deal to what the agent gained from the other today.

    There is room: `reference_py.economy.state.partners_remembered`.
    """
    partners = s.remembered_partner[agent][device_type]
    if other not in partners:
        partners[partners.index(NO_AGENT)] = other
    s.partner_memory[agent][device_type][partners.index(other)][0] += surplus


def nothing_to_trade(goods, offered):
    """Return why there is nothing to trade; None if there is a device and something to pay with."""
    if not goods:
        return "the seller can make none", ()
    if not offered:
        return "the buyer holds nothing to pay with", ()
    return None


def refusal(worth, cost, paid, received):
    """Return why a device is not sold for a payment; None if both gain."""
    if not paid < worth:
        return "the price is not below its worth to the buyer", ()
    if not cost < received:
        return "the price does not exceed the seller's cost", ()
    return None


def for_sale(p, s, device_type, seller):
    """Return the resources, ascending, for which the seller can make the device.

    It does not sell on what it bought in this round.
    """
    return [
        r
        for r in range(p.resources)
        if not s.bought[seller][r] and valuation.can_make(p, s, seller, device_type, r)
    ]


def choice(p, s, device_type, buyer, goods):
    """Return the good that is worth most to the buyer, and its worth; (None, 0) if none is.

    A device that the buyer has promised to make is worth at least what making it costs.
    """
    cost, _ = valuation.costs(p, s, buyer, device_type)
    pick, best = None, 0.0
    for r in goods:
        worth = valuation.buyers_value(p, s, buyer, device_type, r, cost[r])
        if s.to_make[buyer][device_type][r] > 0:
            worth = max(worth, cost[r])
        if worth > best:
            pick, best = r, worth
    return pick, best


def payment(p, s, buyer, seller, offered, worth, cost):
    """Return the units of each resource to be paid: between the least and the most acceptable.

    The mean is weighted by bargaining power; halves are rounded up. No agent pays more than it
    holds.
    """
    least = least_accepted(p, s, seller, offered, s.held[buyer], cost)
    most = most_given(p, s, buyer, offered, worth)
    power = p.devices.trade_power
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
    """Return the bundle for which the seller would just sell: worth its cost, or all there is.

    Of the buyer's offer it takes, unit by unit, what it then values most.
    """
    held, curves = s.held[seller], [utility_curve(p, seller, r) for r in range(p.resources)]

    def key(r, unit):
        return -marginal_utility(curves[r], held[r] + unit)

    def worth(bundle):
        return bundle_value(gain, curves, held, offered, bundle)

    return shortest(offered, stock, key, worth, cost)[0]


def most_given(p, s, buyer, offered, worth):
    """Return the largest bundle that the buyer would give: worth less than the device.

    It gives up, unit by unit, what it then values least.
    """
    held, curves = s.held[buyer], [utility_curve(p, buyer, r) for r in range(p.resources)]

    def key(r, unit):
        return marginal_utility(curves[r], held[r] - unit - 1)

    def given(bundle):
        return bundle_value(loss, curves, held, offered, bundle)

    bundle, last = shortest(offered, held, key, given, worth)
    if last is not None:
        bundle[last] -= 1  # with this unit it is too much
    return bundle


def bundle_value(of_units, curves, held, offered, bundle):
    """Return what the bundle is worth: the sum over the offered resources, ascending."""
    total = 0.0
    for r in offered:
        total += of_units(curves[r], held[r], bundle[r])
    return total


def shortest(offered, stock, key, worth, enough):
    """Return the fewest units that are worth ``enough``, taken in the order of their keys.

    ``key(r, i)`` of unit i of resource r does not fall with i; equal keys go by resource. Nothing
    is walked through: for each resource in turn bisection finds the first of its units with which
    the bundle suffices, between one that does not and one that does.

    Returns
    -------
    bundle : list of units over resources; the whole stock if that is not worth enough
    last : the resource of the last unit; None if no unit was needed or the stock does not suffice
    """
    low = [0] * len(stock)
    high = [units if r in offered else 0 for r, units in enumerate(stock)]
    if enough <= 0.0:
        return low, None
    if worth(high) < enough:
        return high, None

    def up_to(last, unit):
        """Return all units that do not come after this one."""
        place, bundle = (key(last, unit), last), [0] * len(stock)
        for r in offered:
            bundle[r] = bisect_left(
                range(stock[r]), place, low[r], high[r], key=lambda i, r=r: (key(r, i), r)
            )
        bundle[last] = unit + 1
        return bundle

    pick = None
    for r in offered:
        first = bisect_left(
            range(stock[r]),
            True,
            low[r],
            high[r],
            key=lambda unit, r=r: worth(up_to(r, unit)) >= enough,
        )
        below = up_to(r, first - 1) if first > low[r] else low
        if first < high[r]:
            high, pick = up_to(r, first), r
        low = below
    return high, pick


def hand_over(p, s, device_type, buyer, seller, resource):
    """Move the device: from stock or as a promise, into stock or in place of a promise.

    The buyer takes it apart and learns something about it.
    """
    lifetime = p.device_lifetime[device_type]
    if in_stock(p, s, seller, device_type, resource):
        s.device_minutes[seller][device_type][resource] -= lifetime
    else:
        reserve(p, s, seller, device_type, resource)
    experience = s.device_experience[buyer][device_type]
    experience[resource] = max(experience[resource], p.min_held_experience)
    know_components(p, s, buyer)
    if s.to_make[buyer][device_type][resource] > 0:
        unreserve(p, s, buyer, device_type, resource)
    else:
        s.device_minutes[buyer][device_type][resource] += lifetime


def in_stock(p, s, agent, device_type, resource):
    """Return whether the agent owns a whole unused device."""
    return s.device_minutes[agent][device_type][resource] >= p.device_lifetime[device_type]
