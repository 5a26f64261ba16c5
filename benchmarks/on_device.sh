#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: which devices there are, golden hashes, parity, benchmark.
# Usage: benchmarks/on_device.sh FOLDER-FOR-RESULTS
set -u
out=${1:-.}
mkdir -p "$out"
python=${PYTHON:-python3}
export PYTHONPATH=.:${PYTHONPATH:-} PYTHONUNBUFFERED=1
$python -m societies devices
$python tests/golden/golden.py --device gpu
$python benchmarks/economy.py --device gpu --societies 1 16 256 --append "$out/economy.csv"
