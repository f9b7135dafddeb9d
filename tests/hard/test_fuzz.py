"""Nearly sound files and requests, half a minute of each; see `fuzz`, which does it for as long as it is told."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ragweave.models.subprocess_env import import_path

pytestmark = [pytest.mark.hard, pytest.mark.xdist_group("in time")]

SECONDS = float(os.environ.get("TEST_FUZZ", "60")) / 2


@pytest.mark.parametrize("what", ["files", "requests"])
def test_nothing_nearly_sound_ends_a_process_breaks_a_limit_or_gets_no_sentence(what: str) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "ragweave.tests.hard.fuzz", what, str(SECONDS)]
    env = {**os.environ, "PYTHONPATH": import_path()}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, errors="replace")
    print(f"\n{what}: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
