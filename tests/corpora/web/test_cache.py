from __future__ import annotations

import logging
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from ragweave.corpora.web import cache as module
from ragweave.corpora.web.cache import Cache


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "web.sqlite"


def test_what_was_put_is_found_again_by_kind_and_key(path: Path) -> None:
    cache = Cache(path, 60, 10_000)
    cache.put("page", "a", {"text": "größe"})
    cache.put("search", "a", [1, 2])
    cache.put("page", "a", {"text": "newer"})
    assert cache.get("page", "a") == {"text": "newer"}
    assert Cache(path, 60, 10_000).get("search", "a") == [1, 2]
    assert cache.get("page", "b") is None


def test_an_entry_counts_until_its_time_is_up(path: Path, clock: Clock) -> None:
    cache = Cache(path, 60, 10_000)
    cache.put("page", "a", 1)
    clock.now += 59
    assert cache.get("page", "a") == 1
    clock.now += 2
    assert cache.get("page", "a") is None
    cache.put("page", "b", 2)
    rows = sqlite3.connect(path).execute("SELECT key FROM entries").fetchall()
    assert rows == [("b",)], "stale entries go at the next write"


def test_the_oldest_go_when_there_is_too_much(path: Path, clock: Clock) -> None:
    cache = Cache(path, 60, 1_000)
    for key in "abcd":
        cache.put("page", key, "x" * 300)
    assert [key for key in "abcd" if cache.get("page", key)] == ["b", "c", "d"]


def test_what_is_larger_than_the_cache_is_not_kept_and_drives_nothing_out(path: Path) -> None:
    cache = Cache(path, 60, 1_000)
    cache.put("page", "small", "x")
    cache.put("page", "large", "x" * 2_000)
    assert (cache.get("page", "small"), cache.get("page", "large")) == ("x", None)


def test_a_time_of_zero_keeps_nothing_and_makes_no_file(path: Path) -> None:
    cache = Cache(path, 0, 1_000)
    cache.put("page", "a", 1)
    assert cache.get("page", "a") is None
    assert not path.exists()


def test_only_the_owner_may_read_it(path: Path) -> None:
    Cache(path, 60, 1_000).put("page", "a", 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_broken_file_finds_nothing_and_fails_nothing(
    path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    cache = Cache(path, 60, 1_000)
    with caplog.at_level(logging.WARNING):
        cache.put("page", "a", 1)
        assert cache.get("page", "a") is None
    assert "cannot be used" in caplog.text


def test_a_broken_value_finds_nothing(path: Path) -> None:
    cache = Cache(path, 60, 1_000)
    cache.put("page", "a", 1)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE entries SET value = '{'")
    assert cache.get("page", "a") is None


def test_a_newer_version_is_left_alone(path: Path) -> None:
    cache = Cache(path, 60, 1_000)
    cache.put("page", "a", 1)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    cache.put("page", "b", 1)
    assert cache.get("page", "a") is None
    assert sqlite3.connect(path).execute("SELECT count(*) FROM entries").fetchone() == (1,)


def test_a_folder_that_cannot_be_made_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    cache = Cache(tmp_path / "file" / "web.sqlite", 60, 1_000)
    cache.put("page", "a", 1)
    assert cache.get("page", "a") is None


def test_several_threads_write_at_once_and_nothing_is_lost(path: Path) -> None:
    cache = Cache(path, 60, 1_000_000)

    def write(start: int) -> None:
        for i in range(start, start + 15):
            cache.put("page", str(i), i)

    threads = [threading.Thread(target=write, args=(n * 15,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [cache.get("page", str(i)) for i in range(60)] == list(range(60))
