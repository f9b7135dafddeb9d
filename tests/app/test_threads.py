"""The database of conversations."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from ragweave.app.threads import opened


def test_a_database_that_cannot_be_opened_leaves_no_thread_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: told.append(str(args.exc_value)))
    before = set(threading.enumerate())
    with pytest.raises(sqlite3.OperationalError), opened(tmp_path):
        pass
    for left in set(threading.enumerate()) - before:
        left.join(60)
    assert (told, set(threading.enumerate()) - before) == ([], set())
