from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ragweave.models import chat_cache
from ragweave.models.chat_cache import ReplyCache
from ragweave.models.chat_reply import ModelRequest
from ragweave.models.meter import Meter

ASKED = [("user", "a secret question")]


def key(
    messages: list[tuple[str, str]], *images: bytes, model: str = "m", host: str = "h", form: str = "text"
) -> str:
    return ModelRequest(messages, "n", Meter(), images).key(model, host, form)


def test_the_key_depends_on_model_host_messages_pictures_and_form() -> None:
    keys = [
        key(ASKED),
        key(ASKED, model="m2"),
        key(ASKED, host="h2"),
        key(ASKED, form="label:a|b"),
        key([("system", "a secret question")]),
        *(key(ASKED, *images) for images in ([b"a"], [b"b"], [b"a", b"b"], [b"b", b"a"], [b"ab"])),
    ]
    assert len(set(keys)) == len(keys)
    assert key(ASKED) == keys[0]


def test_the_last_reply_is_found_in_another_process_and_prompts_are_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "replies.db"
    cache = ReplyCache(path)
    cache.put(key(ASKED), "old")
    cache.put(key(ASKED), "réponse 答")
    assert ReplyCache(path).get(key(ASKED)) == "réponse 答"
    assert not any(b"secret" in file.read_bytes() for file in path.parent.iterdir())


def test_the_oldest_replies_go_when_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_cache, "_MOST_ROWS", 3)
    cache = ReplyCache(tmp_path / "r.db")
    for i in range(5):
        cache.put(f"k{i}", str(i))
    again = ReplyCache(tmp_path / "r.db")
    assert [again.get(f"k{i}") for i in range(5)] == [None, None, "2", "3", "4"]


def test_a_file_that_cannot_be_used_means_no_cache_and_is_left_alone(tmp_path: Path) -> None:
    garbage, folder, other = (tmp_path / name for name in ("garbage", "folder", "other"))
    garbage.write_bytes(b"not a database " * 500)
    folder.mkdir()
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE replies (something TEXT)")
    for path in (garbage, folder, other):
        cache = ReplyCache(path)
        cache.put("k", "v")
        assert cache.get("k") is None and path.exists()
