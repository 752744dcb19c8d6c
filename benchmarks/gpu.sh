#!/bin/sh
# Whether a GPU agrees with the CPU, and its rates: under four minutes on a GPU, tiny without one.
# PYTHON=/path/to/python benchmarks/gpu.sh [--small]
set -eu
cd "$(dirname "$0")/.."
# Threads that spin while they wait slow each other down where cores are shared.
export PYTHON="${PYTHON:-.venv/bin/python}" PYTHONPATH=src OMP_WAIT_POLICY=PASSIVE
[ -x "$PYTHON" ] || PYTHON=python3
exec timeout 240 sh -c '"$PYTHON" tests/test_gpu.py && "$PYTHON" benchmarks/run.py gpu "$@"' gpu.sh "$@"
