"""Which tables, figures and experiments of other publications can be repeated, and how?

The games, physics and models of this platform come from publications of their own. Scripts of the
repository repeat their measurements; each part below is one of their tables, figures or
experiments by its number, and says which arguments of the script make it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from societies.errors import ConfigError


@dataclass(frozen=True)
class Exhibit:
    """A table, figure or experiment of a publication.

    Attributes
    ----------
    title : what it shows
    cost : of it alone
    words : arguments of the script that make it
    folder : of its results in that of the companion; parts of one folder share measurements
    script : another script than that of the companion
    """

    title: str
    cost: str
    words: tuple[str, ...] = ()
    folder: str = ""
    script: str = ""


@dataclass(frozen=True)
class Companion:
    """A script that repeats the measurements of a publication.

    Attributes
    ----------
    script : path in the repository
    title : what it repeats
    parts : by their name after the colon; the order is that of the publication
    out : option that names the folder of its results
    device : option that names the device; "" if it has none
    small : arguments with which it can be tried in a minute; other scripts of parts have none
    """

    script: str
    title: str
    parts: Mapping[str, Exhibit]
    out: str = "--out"
    device: str = "--device"
    small: tuple[str, ...] = ()

    def words(self, part: Exhibit, out: Path, device: str, small: bool = False) -> list[str]:
        """Return the arguments of Python that make a part."""
        chosen = [part.script or self.script, *part.words]
        if not part.script:  # another script has options of its own
            chosen += [
                *(self.small if small else ()),
                *([self.device, device] if self.device else ()),
            ]
        return [*chosen, self.out, str(out / part.folder)]


def _ngtsg() -> Iterator[tuple[str, Exhibit]]:
    """Yield the tables and figures of the search of game trees."""
    folder = "experiments/games/ngtsg"
    yield (
        "table_2",
        Exhibit(
            "depth and width of games, published and ours", "1 min", script=f"{folder}/figures.py"
        ),
    )
    yield "table_3", Exhibit(
        "nodes in batches, of a serial search, and of the whole tree", "3 min on a GPU",
        ("--minutes", "2", "--only", "serial", "pruning"),
    )  # fmt: skip
    titles = {
        (5, 6): "branches and leaves alone, by the size of a batch",
        (7, 9): "L_max for some values of B_max, nothing pruned",
        (8, 10): "B_max for some values of L_max, nothing pruned",
        (11, 12): "B_max = L_max, nothing pruned, with the most nodes in memory",
        (13, 14): "B_max = L_max with alpha-beta, with the most nodes in memory",
    }
    named = {
        number: f"{'Connect6' if number in (5, 7, 8, 11, 13) else 'chess'}: {title}"
        for pair, title in titles.items()
        for number in pair
    }
    for number in sorted(named):
        words = ("--minutes", "2", "--figures", str(number))
        yield f"figure_{number}", Exhibit(named[number], "2 min on a GPU", words)
    for name, title in (
        ("lines", "how alike neighbouring positions are"),
        ("registers", "registers of both calculations, without a GPU"),
    ):
        yield name, Exhibit(title, "1 min", ("--only", name))


HAVANNAH = (
    "transfer: copies at each launch or once", "two work-items of a group", "path compression",
    "candidates at a time", "speed-up over the CPU", "the best opening",
    "the best reply to cell 222", "tests for the winner", "neighbours in a table",
    "memory of the boards", "statistics of random games", "two tests for the winner agree",
)  # fmt: skip
PROGRAMS = {
    1: ("matmul", "products of matrices"), 2: ("laplace", "Laplace, 500 steps"),
    3: ("blur", "blurs, 100 passes"), 4: ("atoms", "evaluations of forces"),
    5: ("atoms", "whole steps of atoms"), 6: ("atoms", "kernels and transfers of atoms"),
    7: ("atoms", "a step of atoms by kernel"),
}  # fmt: skip

COMPANIONS = {
    "kalah": Companion(
        "experiments/games/kalah/run.py", "Kalah's whole tree (Kloosterman 2013)",
        {
            "depths": Exhibit("seconds by depth", "3 min on two cores", ("--only", "speedup")),
            "splits": Exhibit("seconds by split", "7 min on two cores", ("--only", "splits")),
        },
        small=("--most", "6", "--depths", "8"),
    ),
    "havannah": Companion(
        "experiments/games/havannah/run.py", "Havannah on a graphics card (Werner 2012)",
        {
            str(number): Exhibit(title, "1 min", ("--only", str(number)))
            for number, title in enumerate(HAVANNAH, 1)
        },
        out="--results",
        small=("--playouts", "10", "--scale", "0.05", "--seconds", "5", "--games", "1000"),
    ),
    "ngtsg": Companion(
        "experiments/games/ngtsg/run.py", "game trees searched node by node (Li and others)",
        dict(_ngtsg()), out="--results", small=("--minutes", "0.1"),
    ),
    "molecular_dynamics": Companion(
        "experiments/physics/molecular_dynamics/run.py", "atoms of Lennard and Jones",
        {
            **{
                f"figure_{number}": Exhibit(title, "5 min on two cores", ("times",), "times")
                for number, (program, title) in PROGRAMS.items() if program == "atoms"
            },
            "gas": Exhibit("energies of the published gas", "2 min on two cores", ("gas",)),
            "steps": Exhibit("error of the energy by step", "2 min on two cores", ("steps",)),
        },
        small=("--small",),
    ),
    "raytracer": Companion(
        "experiments/physics/raytracer/run.py", "rays by spheres, forms and workgroups",
        {
            name: Exhibit(title, "2 min on two cores", (name,))
            for name, title in (
                ("pictures", "both published pictures"), ("frames", "pictures a second"),
                ("forms", "forms and workgroups"), ("precision", "single and double"),
                ("burst", "many pictures at once"),
            )
        },
        small=("--pixels", "64"),
    ),
    "opencl_cuda": Companion(
        "experiments/physics/opencl_cuda/run.py", "four programs through OpenCL and CUDA",
        {
            **{
                f"figure_{number}": Exhibit(
                    title, "2 min on an NVIDIA GPU",
                    (program, "--devices", "gpu", "cuda", "--seconds", "140"), program,
                )
                for number, (program, title) in PROGRAMS.items()
            },
            "figure_8": Exhibit(
                "two GPUs over one", "3 min on two GPUs",
                script="experiments/physics/opencl_cuda/two_gpus.py", folder="two_gpus",
            ),
        },
        out="--results", device="", small=("--small",),
    ),
    "scenarios": Companion(
        "experiments/economy/scenarios/run.py", "the economy against recorded runs",
        {"series": Exhibit("51 series of six scenarios", "30 min on two cores")},
    ),
    "bam": Companion(
        "experiments/models/bam/targets.py", "BAM against an independent implementation",
        {"statistics": Exhibit("225 statistics", "3 min on two cores", ("--seeds", "100"))},
        device="",
    ),
    "randomness": Companion(
        "experiments/randomness/battery.py", "random draws",
        {"battery": Exhibit("dieharder and exact counts", "an hour on two cores")},
        small=("--quick",),
    ),
}  # fmt: skip


def companion_rows() -> list[tuple[str, str]]:
    """Return a row for each companion and each of its parts: its name; title and cost."""
    found = []
    for name, one in COMPANIONS.items():
        found.append((name, f"{one.title}: all of it"))
        found += [(f"{name}:{part}", f"{of.title}; {of.cost}") for part, of in one.parts.items()]
    return found


def parts_of(name: str) -> list[tuple[str, str]]:
    """Return the parts that a name means as pairs of companion and part; none if it is unknown.

    Raises ConfigError if the companion exists and the part does not.
    """
    companion, colon, part = name.partition(":")
    if companion not in COMPANIONS:
        return []
    known = COMPANIONS[companion].parts
    if colon and part not in known:
        raise ConfigError(
            f"{companion} has no part '{part}'\nits parts are {', '.join(known)}; "
            "`societies reproduce` lists them"
        )
    return [(companion, part)] if colon else [(companion, one) for one in known]
