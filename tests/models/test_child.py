"""What a child process of Python is started with."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ragweave.models.subprocess_env import environment, import_path


def test_a_child_imports_from_checkouts_and_not_from_within_a_package_that_stands_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, checkout, other = (tmp_path / name for name in ("cv2", "project", "other"))
    for folder in (inner, checkout, other):
        folder.mkdir()
        (folder / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(inner), "", str(tmp_path)])
    assert import_path() == str(tmp_path)
    monkeypatch.setattr(sys, "path", [str(checkout), str(other)])
    assert import_path() == os.pathsep.join([str(checkout), str(other)])


def test_a_child_that_opens_files_of_strangers_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "RAGWEAVE_CHAT_KEY",
        "RAGWEAVE_DATABASE_URL",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "HARMLESS",
    ):
        monkeypatch.setenv(name, "x")
    given = environment()
    assert "HARMLESS" in given and not {n for n in given if "KEY" in n or "DATABASE" in n or "PASS" in n}
