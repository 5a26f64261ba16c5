"""What does an agent extract in a day? Always the unit that pays best per minute.

Source: docs/model.md, "Extraction". Agents do not see each other here. With devices an agent
extracts a resource with the best device that it owns for it, as long as a minute of use is left.
Device twins: ``kernels/economy/extraction.cl``, ``kernels/economy/extraction_front.cl``,
``kernels/economy/extraction_in_step.cl`` and ``kernels/economy/day_without_trade.cl``, which end in
``kernels/economy/practice.cl``.
"""

from reference_py.economy.curves import effort, effort_curve, marginal_utility, utility_curve
from reference_py.economy.devices import SOURCES, extracting_device
from reference_py.economy.listener import notify
from reference_py.economy.streams import drawing
from reference_py.primitives.reduce import reduce_sum


def extraction(p, s):
    """Let every agent work for a day; `extract` says how."""
    for agent in range(p.agents):
        if s.alive[agent]:
            with drawing(p, s, agent, "extraction") as rng:
                extract(p, s, agent, lambda best, rng=rng: best[rng.below(len(best))])


def extract(p, s, agent, choose):
    """Let one agent extract units until its day is over, less the time it spent making devices.

    The last unit may overrun the day. ``choose`` picks one of the best resources (ascending).
    """
    extracted = [[0] * p.resources for _ in SOURCES]
    minutes = [[0.0] * p.resources for _ in SOURCES]
    start = 0.0 if p.devices is None else s.overtime[agent]
    if p.devices is not None:
        s.overtime[agent] = max(0.0, start - p.day_length)
    if start >= p.day_length:
        s.gain_per_minute[agent] = s.device_gain[agent] / start
        end = start
    else:
        end = work(p, s, agent, choose, start, extracted, minutes)
    s.minutes[agent] = end - start
    s.extracted[agent] = [sum(units) for units in zip(*extracted, strict=True)]
    if p.devices is not None:
        s.extracted_with[agent] = [sum(units) for units in extracted]
        s.minutes_with[agent] = [reduce_sum(times) for times in minutes]
    practise(p, s, agent)


def work(p, s, agent, choose, time, extracted, spent):
    """Extract from ``time`` to the end of the day; return when it ended.

    ``extracted`` and ``spent``, (source, resource), count the units and minutes.
    """
    held, experience = s.held[agent], s.experience[agent]
    utility = [utility_curve(p, agent, r) for r in range(p.resources)]
    efforts = [effort_curve(p, agent, r) for r in range(p.resources)]
    candidates = [r for r in range(p.resources) if s.available[r]]
    source, factor = [0] * p.resources, [1.0] * p.resources
    minutes, gains = [0.0] * p.resources, [0.0] * p.resources

    def look(r):
        """See with what a unit is extracted, how long it takes and what it brings per minute."""
        if p.devices is not None:
            device_type = extracting_device(s, agent, r)
            source[r] = 0 if device_type is None else 1 + device_type
            factor[r] = 1.0 if device_type is None else p.device_factor[device_type]
        by_hand = effort(efforts[r], experience[r])
        minutes[r] = by_hand / factor[r]
        gains[r] = marginal_utility(utility[r], held[r]) / by_hand * factor[r]

    for r in range(p.resources):
        look(r)
    while time < p.day_length:
        limit = max(gains[r] for r in candidates) - p.near_best_band
        r = choose([r for r in candidates if gains[r] >= limit])
        if source[r] > 0:
            left = s.device_minutes[agent][source[r] - 1]
            left[r] = max(0.0, left[r] - minutes[r])
        if s.listener is not None:
            unit = {"source": source[r], "start": time, "minutes": minutes[r], "gain": gains[r]}
            value = marginal_utility(utility[r], held[r])
            notify(s, "unit", agent=agent, resource=r, **unit, value=value)
        time += minutes[r]
        s.gain_per_minute[agent] = gains[r]
        experience[r] += 1.0 / factor[r]
        held[r] += 1
        extracted[source[r]][r] += 1
        spent[source[r]][r] += minutes[r]
        look(r)
    return time


def practise(p, s, agent):
    """Let experience fade with every resource that was not extracted today, and cap the others."""
    experience = s.experience[agent]
    for r in range(p.resources):
        if s.extracted[agent][r] == 0:
            experience[r] = max(0.0, experience[r] - p.daily_experience_penalty)
        experience[r] = min(experience[r], effort_curve(p, agent, r).max_experience)
