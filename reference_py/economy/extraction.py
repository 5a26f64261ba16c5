"""What does an agent extract in a day: always the unit that pays best per minute.

Source: docs/model.md, "Extraction". Agents do not see each other here.
"""

from reference_py.economy.curves import effort, effort_curve, marginal_utility, utility_curve
from reference_py.economy.streams import drawing


def extraction(p, s):
    """Let every agent work for a day; `extract` says how."""
    for agent in range(p.agents):
        if s.alive[agent]:
            with drawing(p, s, agent, "extraction") as rng:
                extract(p, s, agent, lambda best, rng=rng: best[rng.below(len(best))])


def extract(p, s, agent, choose):
    """Let one agent extract units until its day is over.

    The last unit may overrun the day. ``choose`` picks one of the best resources (ascending).
    """
    held, experience = s.held[agent], s.experience[agent]
    utility = [utility_curve(p, agent, r) for r in range(p.resources)]
    efforts = [effort_curve(p, agent, r) for r in range(p.resources)]
    candidates = [r for r in range(p.resources) if s.available[r]]
    minutes = [effort(efforts[r], experience[r]) for r in range(p.resources)]

    def per_minute(r):
        return marginal_utility(utility[r], held[r]) / minutes[r]

    gains = [per_minute(r) for r in range(p.resources)]
    before = list(held)
    time = 0.0
    while time < p.day_length:
        limit = max(gains[r] for r in candidates) - p.near_best_band
        r = choose([r for r in candidates if gains[r] >= limit])
        time += minutes[r]
        s.gain_per_minute[agent] = gains[r]
        experience[r] += 1.0
        held[r] += 1
        minutes[r] = effort(efforts[r], experience[r])
        gains[r] = per_minute(r)
    s.minutes[agent] = time
    for r in range(p.resources):
        s.extracted[agent][r] = held[r] - before[r]
        if s.extracted[agent][r] == 0:
            experience[r] = max(0.0, experience[r] - p.daily_experience_penalty)
        experience[r] = min(experience[r], efforts[r].max_experience)
