"""Runs a study of this folder, or continues it: the same societies with and without a change."""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def options(about: str, replicates: str) -> argparse.ArgumentParser:
    """Return a parser with the options of every study; ``replicates`` says of what there are."""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder of the study, of the table and of figures")
    parser.add_argument("--replicates", type=int, default=200, help=replicates)
    parser.add_argument("--device", default="auto", help="OpenCL device (societies devices)")
    return parser


def computed(name: str, chosen: argparse.Namespace) -> Path:
    """Return the path of the study of ``name.yaml``, computed as the options say."""
    chosen.out.mkdir(parents=True, exist_ok=True)
    study: Path = chosen.out / f"{name}-{chosen.replicates}.h5"
    command = [sys.executable, "-m", "societies", "sweep", str(HERE / f"{name}.yaml")]
    command += ["--replicates", str(chosen.replicates), "--device", chosen.device]
    command += ["--out", str(study), *(["--resume"] if study.exists() else [])]
    subprocess.run(command, check=True)
    return study
