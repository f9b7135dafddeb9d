from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ragweave.models import chat_cache
from ragweave.models.chat_cache import ReplyCache

MESSAGES = [("user", "a secret question")]


def test_a_reply_is_found_again_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "replies.db"
    first = ReplyCache(path)
    first.put("k", "réponse 答")
    first.close()
    assert ReplyCache(path).get("k") == "réponse 答"


def test_the_key_depends_on_model_host_messages_and_form() -> None:
    keys = {
        ReplyCache.key("m", "h", MESSAGES, "text"),
        ReplyCache.key("m2", "h", MESSAGES, "text"),
        ReplyCache.key("m", "h2", MESSAGES, "text"),
        ReplyCache.key("m", "h", [("system", "a secret question")], "text"),
        ReplyCache.key("m", "h", MESSAGES, "label:a|b"),
    }
    assert len(keys) == 5
    assert ReplyCache.key("m", "h", MESSAGES, "text") in keys


def test_prompts_are_not_stored(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "r.db")
    cache.put(ReplyCache.key("m", "h", MESSAGES, "text"), "reply")
    cache.close()
    assert b"secret" not in (tmp_path / "r.db").read_bytes()


def test_a_later_reply_replaces_an_earlier_one(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "r.db")
    cache.put("k", "old")
    cache.put("k", "new")
    assert cache.get("k") == "new"


def test_the_oldest_replies_go_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_cache, "_MOST_ROWS", 3)
    cache = ReplyCache(tmp_path / "r.db")
    for i in range(5):
        cache.put(f"k{i}", str(i))
    cache.close()
    again = ReplyCache(tmp_path / "r.db")
    assert [again.get(f"k{i}") for i in range(5)] == [None, None, "2", "3", "4"]


@pytest.mark.parametrize("damage", ["garbage", "folder", "other table"])
def test_a_file_that_cannot_be_used_means_no_cache_and_is_left_alone(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "r.db"
    if damage == "garbage":
        path.write_bytes(b"not a database " * 500)
    elif damage == "folder":
        path.mkdir()
    else:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE replies (something TEXT)")
    cache = ReplyCache(path)
    cache.put("k", "v")
    assert cache.get("k") is None
    assert path.exists()


def test_a_closed_cache_is_an_empty_one(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "r.db")
    cache.put("k", "v")
    cache.close()
    assert cache.get("k") is None
