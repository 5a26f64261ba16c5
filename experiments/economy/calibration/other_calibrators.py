"""Do other packages find the posterior that ours finds, on the same batched simulator?

    python experiments/economy/calibration/other_calibrators.py

Data are made at one true point of a small economy with two parameters. The posterior is computed by
`abc_smc`, by sbi's neural posterior estimation, and from points that black-it's samplers propose,
of which the nearest are taken and adjusted by the same regression as those of `abc_smc`. Needs the
extra `calibrators`.
"""

import argparse
import time

import numpy as np

from societies.study import simulator
from societies.study.calibration.methods import METHODS, Answer, adjusted

RANGES = {"day_length": (450.0, 750.0), "extraction.max_effort": (6.0, 12.0)}
LOW, HIGH = np.array(list(RANGES.values())).T
TRUE = np.array([600.0, 9.0])
STATISTICS = {
    "units": {"of": "units_extracted", "ticks": "1:3"},
    "late": {"of": "units_extracted", "ticks": "16:20"},
    "held": {"of": "units_held", "ticks": "16:20"},
}


def answered(simulate, unit, observed, scale):
    """Return what `abc_smc` receives for points of the unit cube."""
    statistics = simulate(LOW + unit * (HIGH - LOW))
    residuals = (statistics - observed) / scale
    cells = np.zeros(statistics.shape, np.int64)
    return Answer(np.sqrt((residuals**2).mean(1)), residuals, statistics, cells)


def by_abc(simulate, observed, scale):
    method, count = METHODS["abc_smc"](2, population=200, generations=5), 0
    unit = next(method)
    try:
        while True:
            count += len(unit)
            unit = method.send(answered(simulate, unit, observed, scale))
    except StopIteration as end:
        return end.value.draws, count


def by_black_it(simulate, observed, scale):
    from black_it.samplers.halton import HaltonSampler
    from black_it.search_space import SearchSpace

    space = SearchSpace(np.array([[0.0, 0.0], [1.0, 1.0]]), [1e-6, 1e-6], False)
    unit = HaltonSampler(4000, random_state=1).sample(space, np.empty((0, 2)), np.empty(0))
    unit = np.clip(unit, 1e-6, 1 - 1e-6)
    answer = answered(simulate, unit, observed, scale)
    near = np.argsort(answer.distance)[:200]
    weights = np.full(len(near), 1 / len(near))
    draws = adjusted(unit[near], answer.residuals[near], answer.distance[near], weights)
    return draws, len(unit)


def by_sbi(simulate, observed, scale):
    import torch
    from sbi.inference import NPE
    from sbi.utils import BoxUniform

    torch.manual_seed(1)
    prior = BoxUniform(torch.zeros(2), torch.ones(2))
    theta = prior.sample((2000,))
    x = simulate(LOW + theta.numpy().astype(float) * (HIGH - LOW)) / scale
    trainer = NPE(prior, show_progress_bars=False)
    trainer.append_simulations(theta, torch.tensor(x, dtype=torch.float32))
    trainer.train(max_num_epochs=200)
    seen = torch.tensor(observed / scale, dtype=torch.float32)
    draws = trainer.build_posterior().sample((2000,), x=seen, show_progress_bars=False)
    return draws.numpy(), len(theta)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    given = {"set": {"agents": 6, "resources": 6, "days": 20}, "device": options.device}
    with simulator("economy/quickstart", list(RANGES), STATISTICS, **given) as simulate:
        observed = simulate([TRUE.tolist()], seeds=[10**6])[0]
        prior = np.random.default_rng(5).uniform(LOW, HIGH, (200, 2))
        scale = simulate(prior).std(0)
        print("| by | simulations | " + " | ".join(RANGES) + " | seconds |", flush=True)
        print("|---|---|---|---|---|")
        for name, of in (("abc_smc", by_abc), ("black-it", by_black_it), ("sbi", by_sbi)):
            began = time.perf_counter()
            draws, count = of(simulate, observed, scale)
            found = LOW + draws * (HIGH - LOW)
            cells = [f"{m:.4g} ± {s:.2g}" for m, s in zip(found.mean(0), found.std(0), strict=True)]
            seconds = time.perf_counter() - began
            print(f"| {name} | {count} | {' | '.join(cells)} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
