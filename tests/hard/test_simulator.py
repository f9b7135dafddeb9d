"""Random programs over the whole life of a home, with faults at random places; see the simulator."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ragweave.models.subprocess_env import import_path
from ragweave.tests.support.postgres import binaries

pytestmark = pytest.mark.hard

STEPS = int(os.environ.get("TEST_STEPS", "200"))
SEED = int(os.environ.get("TEST_SEED", "1"))
AT_ONCE = 100
"""Steps of one home."""


@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, STEPS // AT_ONCE)))
def test_no_fault_at_any_place_leaves_a_home_that_disagrees_with_itself_or_with_the_files(seed: int) -> None:
    given = [str(seed), str(min(STEPS, AT_ONCE)), "--store", "both" if binaries() else "files"]
    command = [sys.executable, "-m", "ragweave.tests.hard.simulator", *given]
    env = {**os.environ, "PYTHONPATH": import_path()}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    print(f"\n{done.stdout.partition(os.linesep)[0]}")
    assert done.returncode == 0, done.stdout + done.stderr
