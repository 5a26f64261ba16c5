"""A function for every rule of the economy that is translated, so that its place is compiled."""


def price(most_a, least_b):
    return 2.0 / (most_a + least_b)


def score(value, last):
    return value / (last + 1.0)


def choice(wanted, given):
    return wanted - given


def meeting(agent, group, market_round):
    return agent % (2 + market_round) + group


def worth(benefit):
    return benefit / 2.0


def partner(gained, group, partner_group):
    return gained if group == partner_group else 0.5
