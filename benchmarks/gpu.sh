#!/bin/sh
# Whether a GPU agrees with the CPU, and its rates: under four minutes on a GPU, tiny without one.
# PYTHON=/path/to/python benchmarks/gpu.sh [--small]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-$here/../.venv/bin/python}
[ -x "$python" ] || python=python3
# Threads that spin while they wait slow each other down where cores are shared.
export OMP_WAIT_POLICY=PASSIVE
PYTHONPATH="$here/../src" exec timeout 240 "$python" "$here/gpu.py" "$@"
