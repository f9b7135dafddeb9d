from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ragweave.components.overview import overview_of
from ragweave.models import chat_cache, chat_client
from ragweave.models.chat import Chat, chat, override
from ragweave.models.chat_cache import ReplyCache, reply_cache
from ragweave.models.chat_client import Served, connect, is_local
from ragweave.models.chat_reply import ModelRequest
from ragweave.models.meter import Meter
from ragweave.models.prompt_fit import LEFT_OUT, fitted
from ragweave.models.settings import model_settings
from ragweave.prompts import quote
from ragweave.tests.support import ScriptedChat


def served(put: Any, setting: str, url: str = "") -> Served:
    put(chat_url=url, chat=setting)
    return Served.of(model_settings().endpoint("writer"), model_settings())


@pytest.mark.parametrize(
    ("setting", "url", "name", "host"),
    [
        ("anthropic:claude-haiku", "", "claude-haiku", "anthropic"),
        ("gpt-4o-mini", "", "gpt-4o-mini", "its provider"),
        ("openai:qwen3:4b", "http://localhost:11434/v1", "qwen3:4b", "localhost:11434"),
        ("org/model", "https://user:secret@llm.example.org/v1", "org/model", "llm.example.org"),
    ],
)
def test_name_and_host_follow_from_the_setting_or_the_variable_of_the_provider(
    put: Any, monkeypatch: pytest.MonkeyPatch, setting: str, url: str, name: str, host: str
) -> None:
    made = served(put, setting, url)
    assert (made.name, made.host) == (name, host)
    assert served(put, "openai:gpt-4o-mini").host == "api.openai.com"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example.org/v1")
    assert served(put, "openai:gpt-4o-mini").host == "proxy.example.org"


def test_this_machine_is_told_from_others() -> None:
    assert all(map(is_local, ["localhost", "localhost:11434", "127.0.0.1:8000", "127.8.9.1", "[::1]:80"]))
    others = [
        "api.openai.com",
        "192.168.1.5:80",
        "localhost.example.org",
        "127.0.0.1.example.org",
        "",
        "0.0.0.0",
    ]
    assert not any(map(is_local, others))


def raised(result: Any) -> Any:
    if isinstance(result, Exception):
        raise result
    return result


async def test_calls_of_one_event_loop_share_a_client_and_other_loops_have_their_own(
    put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[Any] = [ImportError("not yet"), object(), object(), object()]
    monkeypatch.setattr(chat_client, "build", lambda served: raised(results.pop(0)))
    model = served(put, "openai:m", "http://127.0.0.1:1/v1")
    with pytest.raises(ImportError):
        await connect(model)
    one, other = await asyncio.gather(connect(model), connect(model))
    assert one is other is await connect(model)
    assert await asyncio.to_thread(lambda: asyncio.run(connect(model))) is not one


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


ASK = [("user", "Which towns?")]


class Towns(BaseModel):
    towns: list[str]


@pytest.fixture
def _closed() -> Iterator[None]:
    yield
    reply_cache.cache_clear()


def cached(model: ScriptedChat) -> Chat:
    with override(writer=model, cached=True):
        made = chat()
    assert made is not None
    return made


@pytest.mark.usefixtures("_closed")
async def test_a_text_that_gave_nothing_is_asked_for_again_and_a_good_one_is_kept() -> None:
    model = cached(ScriptedChat(replies=["sorry", "Oslo", "never asked for"]))
    good = "Oslo".__eq__
    meter = Meter()
    said = [await model.text(ASK, node="n", meter=meter, good=good) for _ in range(3)]
    assert said == ["sorry", "Oslo", "Oslo"]
    assert (meter.spent.calls, meter.spent.cached) == (2, 1)


@pytest.mark.usefixtures("_closed")
async def test_a_kept_reply_that_does_not_satisfy_who_asks_now_is_not_taken() -> None:
    model = cached(ScriptedChat(replies=["Oslo", "Bergen"]))
    assert await model.text(ASK, node="n", meter=Meter()) == "Oslo"
    assert await model.text(ASK, node="n", meter=Meter(), good="Bergen".__eq__) == "Bergen"


@pytest.mark.usefixtures("_closed")
async def test_a_structured_reply_of_empty_lists_is_not_kept() -> None:
    model = cached(ScriptedChat(replies=[{"towns": []}, {"towns": ["Oslo"]}]))
    found = [await model.json(ASK, Towns, node="n", meter=Meter()) for _ in range(3)]
    assert [read.towns for read in found if read] == [[], ["Oslo"], ["Oslo"]]


@pytest.mark.usefixtures("_closed")
async def test_a_stream_that_gave_nothing_is_asked_for_again() -> None:
    model = cached(ScriptedChat(replies=["No idea.", "In Oslo.", "never asked for"]))

    async def streamed() -> str:
        parts = model.stream(ASK, node="n", meter=Meter(), good=lambda text: "Oslo" in text)
        return "".join([part async for part in parts])

    assert [await streamed() for _ in range(3)] == ["No idea.", "In Oslo.", "In Oslo."]


@pytest.mark.usefixtures("_closed")
async def test_a_fresh_model_is_called_whatever_is_kept_and_its_reply_is_kept_instead() -> None:
    model = cached(ScriptedChat(replies=["Oslo", "Bergen"]))
    assert await model.text(ASK, node="n", meter=Meter()) == "Oslo"
    model.call_always()
    assert await model.text(ASK, node="n", meter=Meter()) == "Bergen"
    assert await cached(ScriptedChat(replies=[])).text(ASK, node="n", meter=Meter()) == "Bergen"


@pytest.mark.usefixtures("_closed")
async def test_an_introduction_that_cannot_be_used_is_written_again_when_it_is_asked_for_once_more() -> None:
    model = cached(ScriptedChat(replies=["I am only a model.", {"summary": "Two notes on ferries."}]))
    first = await overview_of(["Ferries"], ["The ferry sails."], model, Meter())
    second = await overview_of(["Ferries"], ["The ferry sails."], model, Meter())
    assert first == ("", []) and second[0] == "Two notes on ferries."


def passage(n: int, text: str) -> str:
    return f"[{n}] A title\n{quote(text)}"


def size(messages: object) -> int:
    return sum(len(text.encode()) for _, text in messages)  # type: ignore[attr-defined]


def test_the_least_relevant_passages_go_first_and_numbers_and_question_stay() -> None:
    passages = "\n".join(passage(n, f"{'abc'[n - 1]}" * 1_000) for n in (1, 2, 3))
    messages = [("system", "Be brief."), ("user", f"When was it lit?\n{passages}\nReply.")]
    cut = fitted(messages, 1_300)
    text = cut.messages[1][1]
    assert (cut.left, cut.shortened, cut.passages) == (2, 0, 3)
    assert "a" * 1_000 in text and text.count(LEFT_OUT) == 2 and "[3] A title" in text
    assert text.startswith("When was it lit?") and text.endswith("Reply.") and size(cut.messages) <= 1_300


def test_of_two_rounds_the_older_loses_first_and_each_keeps_its_best() -> None:
    rounds = [("user", "\n".join(passage(n, letter * 500) for n in (1, 2))) for letter in "ab"]
    cut = fitted(rounds, size(rounds) - 300)
    assert LEFT_OUT in cut.messages[0][1] and LEFT_OUT not in cut.messages[1][1]
    cut = fitted(rounds, 1_200)
    assert ["a" * 500 in cut.messages[0][1], "b" * 500 in cut.messages[1][1]] == [True, True]


def test_a_single_passage_that_is_too_long_is_shortened() -> None:
    cut = fitted([("user", passage(1, "word " * 2_000))], 3_000)
    assert (cut.left, cut.shortened) == (0, 1) and 2_000 < size(cut.messages) <= 3_000


def test_what_holds_no_passage_stays_as_it_is() -> None:
    messages = [("user", "x" * 500)]
    assert fitted(messages, 100).messages == messages


@given(st.lists(st.text(max_size=600), max_size=6), st.integers(0, 3_000))
def test_the_order_and_number_of_passages_stays_and_nothing_grows(texts: list[str], most: int) -> None:
    messages = [("user", "\n".join(passage(n, text) for n, text in enumerate(texts, 1)))]
    cut = fitted(messages, most)
    assert cut.passages == len(texts) and size(cut.messages) <= size(messages)
    assert all(f"[{n}] A title" in cut.messages[0][1] for n in range(1, len(texts) + 1))
    if size(messages) <= most:
        assert cut.messages == messages
