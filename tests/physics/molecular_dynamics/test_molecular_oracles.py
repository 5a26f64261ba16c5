"""Are positions, velocities, forces and energies those that others computed, to the bit?"""

import pytest
from marks import thorough_but
from md_boxes import NIST, SYSTEMS, after, digest, engine, system

import societies
from societies import load_config
from societies.physics.molecular_dynamics import WORKLOAD


def check(of, made):
    """Compare an engine that has started with an entry of ``md.json``."""
    tick = 0
    for text, expected in of["sha256 x v F"].items():
        if int(text) > tick:
            made.run_ticks(tick + 1, int(text))
            tick = int(text)
        state = made.state()
        assert [digest(state[name][0]) for name in "xvF"] == expected, text
        assert state["F"][0].sum(axis=0).tolist() == [0, 0, 0]
        if text in ("0", "20"):
            made.finish()
            state = made.state()
            found = [float(state[name][0]) for name in "UKTP"]
            found[0], found[1] = found[0] / of["N"], found[1] / of["N"]
            assert [one.hex() for one in found] == of[f"step{text} U K T P"], text


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_in_the_reference(name):
    check(SYSTEMS[name], engine(system(name)))


@pytest.mark.parametrize("name", thorough_but(("melt double", "seed single"), SYSTEMS))
def test_systems_on_a_device(device, name):
    """With cells or lists, where the box has room for them."""
    check(SYSTEMS[name], engine(system(name).fitting(), device))


def nist(number, form, cutoff, precision):
    """Return the parameters of a shipped configuration with another potential."""
    config = load_config(
        f"physics/molecular_dynamics/nist{number}",
        [f"form={form}", f"cutoff={cutoff}", f"precision={precision}", "variant=all_pairs"],
    )
    return WORKLOAD.parameters(config)


def five_digits(value, published):
    """Return whether a number has the five digits that were published."""
    return f"{value:.5g}" == f"{published:.5g}"


CASES = {
    f"{number} {form} {cutoff:.0f} {precision}": (number, form, cutoff, precision)
    for number in (1, 2, 3, 4)
    for form, cutoff in (("plain", 3.0), ("plain", 4.0), ("shifted_force", 3.0))
    for precision in ("single", "double")
}


def check_nist(case, device=None):
    """Compare energies and the bits of forces; in double also with the published five digits."""
    number, form, cutoff, precision = CASES[case]
    of = NIST[f"config {number}"]
    expected = of[f"{form} rc={cutoff:.0f} {precision}"]
    p = nist(number, form, cutoff, precision)
    assert (p.atoms, p.length) == (of["N"], of["L"])
    state = after(p, 0, device)
    energy, virial = float(state["U"][0]), float(state["W"][0])
    assert digest(state["F"][0]) == expected["sha256 F"]
    assert (energy, virial) == (expected["U"], expected["W"])
    if precision == "double":
        assert five_digits(energy, expected["published_U"])
        assert five_digits(virial, expected["published_W"])


@pytest.mark.parametrize("case", CASES)
def test_nist_in_the_reference(case):
    check_nist(case)


@pytest.mark.parametrize("case", thorough_but(("1 plain 3 double",), CASES))
def test_nist_on_a_device(device, case):
    check_nist(case, device)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("cutoff", [3, 4])
def test_tails_of_nist(number, cutoff):
    of = NIST[f"config {number}"]
    config = load_config(f"physics/molecular_dynamics/nist{number}", ["tail=true"])
    config = config.model_copy(update={"cutoff": float(cutoff)})
    found = WORKLOAD.parameters(config).tail_energy
    assert found == pytest.approx(of[f"tail rc={cutoff}"], rel=1e-12)


def test_the_melt_of_lammps(device):
    """Its published log of the benchmark, before the first step."""
    config = load_config("physics/molecular_dynamics/melt", ["precision=double"])
    p = WORKLOAD.parameters(config)
    state = after(p, 0, device)
    assert float(state["U"][0]) / p.atoms == pytest.approx(-6.7733681, abs=5.1e-8)
    assert float(state["P"][0]) == pytest.approx(-5.0197073, abs=5.1e-8)
    assert (float(state["U"][0]) + float(state["K"][0])) / p.atoms == pytest.approx(
        -4.6134356, abs=5.1e-8
    )


def test_the_report_of_a_start_has_what_is_published(tmp_path):
    """Energies per atom; there were those of all atoms alone, and six digits of the pressure."""
    overrides = ["precision=double", "steps=0"]
    config = load_config("physics/molecular_dynamics/melt", overrides)
    rows = dict(societies.run(config, out=tmp_path / "melt.h5").rows)
    assert rows["potential energy"] == "-6.7733681 epsilon per atom"
    assert rows["total energy"] == "-4.6134356 epsilon per atom"
    assert rows["P"] == "-5.0197073 epsilon/sigma^3"
    assert rows["U"] == "-216748 epsilon"


@pytest.mark.parametrize("series", thorough_but([7], [3, 7, 10]))
def test_the_report_of_steps_is_of_the_last_one(series, tmp_path):
    """Also where that is not recorded: there were the energies of an earlier step."""
    names = ("potential_energy", "kinetic_energy", "total_energy", "temperature", "pressure")
    overrides = ["steps=7", "replicates=2", "precision=double"]

    def final(series, name):
        config = load_config(
            "physics/molecular_dynamics/quickstart", [*overrides, f"record.series={series}"]
        )
        made = societies.run(config, out=tmp_path / name)
        again = societies.run(config, out=tmp_path / name, resume=True)
        assert again.final == made.final
        rows = dict(made.rows)
        assert rows["last step"].startswith("7")
        assert rows["pressure"].startswith(f"{made.final['pressure']:.6g} ")
        return made.final

    expected = final(1, "each.h5")
    found = final(series, "some.h5")
    assert ("momentum" in found) == (series == 7)
    assert [found[name] for name in names] == pytest.approx(
        [expected[name] for name in names], rel=1e-12
    )


def test_the_report_of_steps_has_the_series_alone(tmp_path):
    config = load_config("physics/molecular_dynamics/quickstart", ["steps=5", "record.series=5"])
    rows = dict(societies.run(config, out=tmp_path / "gas.h5").rows)
    assert rows["potential energy"].endswith(" epsilon per atom") and "U" not in rows
