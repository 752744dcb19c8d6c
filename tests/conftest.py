"""Tests run side by side: one thread each, and none that spins while it waits."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Files that run whole workflows, the longest first, so that none of them is left for the end.
LONGEST = (
    "test_slurm",
    "test_demonstration",
    "test_dvc",
    "test_kills",
    "test_conda",
    "test_workflow_real",
    "test_workflow",
    "test_workflow_controls",
)


def pytest_collection_modifyitems(items):
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))
