"""What a home holds is its owner's alone, also a home that was made before."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ragweave.corpora.store.private import make_home

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")


def open_to_others(home: Path) -> list[str]:
    found = [home, *home.rglob("*")]
    return [f"{oct(p.lstat().st_mode)} {p}" for p in found if not p.is_symlink() and p.stat().st_mode & 0o077]


def command(*given: str) -> None:
    # The usual umask of a system, under which whoever likes may read what is written.
    words = ["sh", "-c", 'umask 022; exec "$0" -m ragweave "$@"', sys.executable, *given]
    subprocess.run(words, check=True, capture_output=True)


def test_what_commands_write_is_their_users_alone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe harbour was built in 1874.\n")
    command("index", str(tmp_path / "a.md"))
    command("keys", "create", "me", "--all")
    assert (home / "serve.sqlite").exists() and list(home.glob("libraries/*/catalog.sqlite"))
    assert open_to_others(home) == []


def test_a_home_that_others_could_read_is_closed_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home, outside = tmp_path / "old", tmp_path / "outside.md"
    (home / "media").mkdir(parents=True)
    outside.write_text("mine")
    (home / "media" / "link.md").symlink_to(outside)
    (home / "media" / "page.png").write_bytes(b"x")
    for path in (outside, home / "media" / "page.png"):
        path.chmod(0o644)
    for path in (home, home / "media"):
        path.chmod(0o755)
    make_home(home)
    make_home(home)
    assert open_to_others(home) == [] and len(caplog.records) == 1
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644  # what a link leads to is not the home's
