#!/usr/bin/env bash
# Verify and measure on a machine with an NVIDIA GPU (and PoCL, if it is there): golden hashes,
# parity, benchmark. Prints everything; the CSV goes to the folder given as the first argument.
set -u
out=${1:-.}
python=${PYTHON:-python3}
$python - <<'PY'
import societies
for d in societies.list_devices():
    print(d, d.kind, d.driver, d.version, "max", d.max_workgroup, "local", d.local_memory, "warp", d.warp)
print("auto:", societies.choose_device("auto"), societies.choose_device("auto").reason)
PY
$python tests/golden/golden.py --device gpu || exit 1
