"""What a child process of Python is started with."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ragweave.models.child import import_path


def test_a_package_that_stands_on_the_path_while_it_is_imported_is_not_handed_to_a_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "cv2"
    inner.mkdir()
    (inner / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(inner), "", str(tmp_path)])
    assert import_path() == str(tmp_path)


def test_a_checkout_that_is_a_package_stays_on_the_path_of_a_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, other = tmp_path / "project", tmp_path / "other"
    for folder in (checkout, other):
        folder.mkdir()
        (folder / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(checkout), str(other)])
    assert import_path() == os.pathsep.join([str(checkout), str(other)])
