"""Does the simulator serve calibrators of other packages? Those not installed are skipped.

``SOCIETIES_REQUIRE_CALIBRATORS=1`` (set by .ci/nightly) turns the skips into failures.
"""

import importlib
import os

import numpy as np
import pytest

from societies.study import simulator

KEYS = ("extraction.max_effort", "utility.exponent")
LOW, HIGH = np.array([6.0, 2.0]), np.array([12.0, 3.0])
TRUE = [9.0, 2.4]


def package(name):
    """Return a module of another package; without it the test is skipped."""
    if os.environ.get("SOCIETIES_REQUIRE_CALIBRATORS"):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is missing: pip install '.[calibrators]'")


@pytest.fixture(scope="module")
def simulate():
    """Return units extracted and utility, in units of about 1."""
    statistics = {
        "units": {"of": "units_extracted / 10", "statistic": "last"},
        "utility": {"of": "utility / 1000", "statistic": "last"},
    }
    small = {"agents": 4, "resources": 4, "days": 5}
    given = {"set": small, "device": "reference"}
    with simulator("economy/quickstart", KEYS, statistics, **given) as own:
        yield own


@pytest.fixture(scope="module")
def observed(simulate):
    return simulate([TRUE], seeds=[10**6])[0]


def distance(found, observed):
    return ((found - observed) ** 2).sum(-1)


def near(point):
    """Return whether a point is near the true one, in units of the priors' ranges."""
    return np.abs((np.asarray(point) - TRUE) / (HIGH - LOW)).max() < 0.3


def test_optuna_asks_for_many_points_and_is_told_all_of_them(simulate, observed):
    optuna = package("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=20))
    ranges = {
        key: optuna.distributions.FloatDistribution(low, high)
        for key, low, high in zip(KEYS, LOW, HIGH, strict=True)
    }
    for _ in range(4):
        trials = [study.ask(ranges) for _ in range(20)]
        found = simulate([[one.params[key] for key in KEYS] for one in trials])
        for trial, value in zip(trials, distance(found, observed), strict=True):
            study.tell(trial, value)
    assert near([study.best_params[key] for key in KEYS])


def test_the_samplers_of_black_it_propose_batches(simulate, observed):
    package("black_it")
    from black_it.samplers.best_batch import BestBatchSampler
    from black_it.samplers.halton import HaltonSampler
    from black_it.search_space import SearchSpace

    space = SearchSpace(np.array([LOW, HIGH]), [0.001, 0.001], False)
    points, losses = np.empty((0, 2)), np.empty(0)
    for sampler in (HaltonSampler(batch_size=30), *[BestBatchSampler(batch_size=15)] * 3):
        new = sampler.sample(space, points, losses)
        points = np.concatenate([points, new])
        losses = np.concatenate([losses, distance(simulate(new), observed)])
    assert near(points[np.argmin(losses)])


@pytest.mark.ci
def test_pyabc_calls_it_point_by_point(simulate, observed, tmp_path):
    pyabc = package("pyabc")
    prior = pyabc.Distribution(
        **{
            f"p{i}": pyabc.RV("uniform", low, high - low)
            for i, (low, high) in enumerate(zip(LOW, HIGH, strict=True))
        }
    )
    abc = pyabc.ABCSMC(
        lambda p: {"x": simulate([p["p0"], p["p1"]])},
        prior,
        lambda a, b: float(distance(a["x"], b["x"])),
        population_size=20,
        sampler=pyabc.sampler.SingleCoreSampler(),
    )
    abc.new(f"sqlite:///{tmp_path}/abc.db", {"x": observed})
    history = abc.run(max_nr_populations=3)
    frame, weights = history.get_distribution()
    assert near([float((frame[f"p{i}"] * weights).sum()) for i in range(2)])


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:Maximum number of epochs:UserWarning")
def test_sbi_learns_the_posterior_from_one_launch(simulate, observed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # sbi writes logs into the current folder
    torch = package("torch")
    inference = package("sbi.inference")
    utils = package("sbi.utils")
    torch.manual_seed(1)
    prior = utils.BoxUniform(torch.tensor(LOW).float(), torch.tensor(HIGH).float())
    theta = prior.sample((400,))
    x = torch.tensor(simulate(theta.numpy()), dtype=torch.float32)
    trainer = inference.NPE(prior, show_progress_bars=False)
    trainer.append_simulations(theta, x).train(max_num_epochs=60)
    posterior = trainer.build_posterior()
    draws = posterior.sample((500,), x=torch.tensor(observed).float(), show_progress_bars=False)
    assert near(draws.mean(0).numpy())
