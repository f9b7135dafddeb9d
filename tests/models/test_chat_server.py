"""The chat model over HTTP: every way in which a server fails becomes one sentence with its remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from ragweave.models.chat import Chat, chat
from ragweave.models.errors import BudgetSpent, ModelError, ModelTransient, ReplyCut
from ragweave.models.meter import Limits, Meter
from ragweave.models.settings import model_settings
from ragweave.tests.support import Fault, ScriptedServer

ASK = [("system", "Be brief."), ("user", "Capital of France?")]


class Grade(BaseModel):
    verdict: str


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.0)
    with ScriptedServer() as served:
        monkeypatch.setenv("RAGWEAVE_CHAT", "openai:small")
        monkeypatch.setenv("RAGWEAVE_CHAT_URL", served.base_url)
        monkeypatch.setenv("RAGWEAVE_CHAT_CACHE", "false")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
        yield served


def writer() -> Chat:
    made = chat()
    assert made is not None
    return made


async def text(meter: Meter | None = None) -> str:
    return await writer().text(ASK, node="n", meter=meter or Meter())


async def grade(meter: Meter | None = None) -> Grade | None:
    return await writer().json(ASK, Grade, node="n", meter=meter or Meter())


async def stream(meter: Meter | None = None, seen: list[str] | None = None) -> list[str]:
    """Return the parts of a reply, which stay in `seen` where it breaks off."""
    seen = [] if seen is None else seen
    async for part in writer().stream(ASK, node="n", meter=meter or Meter()):
        seen.append(part)
    return seen


async def test_text_json_and_stream_reach_the_server_as_configured(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "right"
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY", "right")
    server.queue("It is Paris.", {"verdict": "yes"}, "It is. In Paris.")
    meter = Meter()
    assert (writer().name, writer().host) == ("small", re.sub("http://|/v1", "", server.base_url))
    assert await text(meter) == "It is Paris."
    assert await grade(meter) == Grade(verdict="yes")
    assert await stream(meter) == ["It is. ", "In ", "Paris."]
    assert [r.method for r in server.requests] == ["text", "json_schema", "text"]
    assert {r.model for r in server.requests} == {"small"}
    assert [m["role"] for m in server.requests[0].messages] == ["system", "user"]
    assert (meter.spent.calls, meter.spent.input_tokens, meter.spent.output_tokens) == (3, 15, 9)
    server.assert_consumed()


FOR_GOOD = {
    "status 401": (Fault.status(401), r"refused the key \(401\).* Set RAGWEAVE_CHAT_KEY"),
    "unknown model": (Fault.status(404), r"does not know the model small \(404\).*RAGWEAVE_CHAT_URL"),
    "status 402": (Fault.status(402), r"has no credit left \(402\)"),
    "bad request": (Fault.status(400, "n must be 1"), r"refused the request \(400\): .*n must be 1"),
    "long prompt": (
        Fault.status(400, "This model's maximum context length is 4096 tokens"),
        r"the prompt is longer than small at .* can read\. Use a model with a longer context",
    ),
    "web page": (Fault.html(), "(sent something that is not a reply|sent a stream without a reply in it)"),
}


@pytest.mark.parametrize(("fault", "sentence"), FOR_GOOD.values(), ids=FOR_GOOD)
async def test_a_failure_for_good_is_one_sentence_after_one_try(
    server: ScriptedServer, fault: Fault, sentence: str
) -> None:
    for call in (text, grade, stream):
        server.queue(*[fault] * 2)
        with pytest.raises(ModelError, match=sentence) as caught:
            await call()
        assert "\n" not in str(caught.value)
        assert len(server.requests) <= 2
        server.requests.clear()
        server._queue.clear()


PASSING = {
    "status 429": (Fault.status(429), r"is limiting requests \(429\).* Wait a little"),
    "status 500": (Fault.status(500), "small at 127.* failed with status 500"),
    "no credit": (Fault.status(429, "pay", error="insufficient_quota"), r"has no credit left \(429\)"),
    "dropped": (Fault.drop(), r"cannot be reached or dropped the connection\. Start it"),
}


@pytest.mark.parametrize(("fault", "sentence"), PASSING.values(), ids=PASSING)
async def test_a_failure_that_may_pass_is_tried_three_times_by_the_client_then_told(
    server: ScriptedServer, fault: Fault, sentence: str
) -> None:
    server.queue(fault, fault, "fine", *[fault] * 3)
    assert await text() == "fine"
    with pytest.raises(ModelError, match=sentence):
        await text()
    server.assert_consumed()
    assert len(server.requests) == 6


async def test_a_key_of_the_environment_stays_here_and_a_server_that_is_down_is_named(
    server: ScriptedServer,
) -> None:
    server.key = "none"
    server.queue("fine")
    assert await text() == "fine"
    server.__exit__(None, None, None)
    with pytest.raises(ModelTransient, match=r"server of small at 127\.0\.0\.1:\d+ cannot be reached"):
        await text()


async def test_a_pause_longer_than_the_patience_is_told_as_the_refusal_that_asked_for_it(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_TIMEOUT", "0.2")
    server.queue(Fault.status(429, retry_after="60"))
    with pytest.raises(ModelTransient, match="limiting requests"):
        await text()
    server.assert_consumed()


BROKEN = pytest.mark.parametrize(
    "fault",
    [Fault.cut(2), Fault.cut(2, clean=True), Fault.error_event(after=2), Fault.cut(0), Fault.error_event()],
    ids=["cut", "ends early", "error event", "cut at once", "error at once"],
)


@BROKEN
async def test_a_reply_that_breaks_off_before_its_first_sentence_is_asked_for_once_more(
    server: ScriptedServer, fault: Fault
) -> None:
    server.queue(fault, "It is Paris. It lies on the Seine.", *[fault] * 2, fault, {"verdict": "yes"})
    parts = await stream()
    assert "".join(parts) == "It is Paris. It lies on the Seine."
    assert parts[0].startswith("It is Paris.") and len(parts) > 1
    with pytest.raises(ModelTransient):
        await stream()
    assert await grade() == Grade(verdict="yes")
    assert len(server.requests) == 6


async def test_a_stream_that_breaks_off_after_a_sentence_is_told_and_what_came_stays(
    server: ScriptedServer,
) -> None:
    server.queue(Fault.cut(parts=("It is Paris. ", "It lies ")))
    seen: list[str] = []
    with pytest.raises(ModelTransient, match=r"the reply of small at .* broke off"):
        await stream(seen=seen)
    assert "".join(seen) == "It is Paris. It lies "
    assert len(server.requests) == 1


def event(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


TOOL = {"index": 0, "id": "1", "type": "function", "function": {"name": "f", "arguments": ""}}
COUNTED = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}}
INSTEAD = {
    "tools": ([event({"tool_calls": [TOOL]}), event({}, "tool_calls")], "called tools and wrote nothing"),
    "no choices": ([{"choices": []}], "sent a stream without a reply in it"),
    "half a reply": ([event({"content": "It lies on"})], "sent a stream that ended within its reply"),
}


@pytest.mark.parametrize(("events", "sentence"), INSTEAD.values(), ids=INSTEAD)
async def test_a_server_whose_stream_holds_no_reply_is_told_by_what_came_instead(
    server: ScriptedServer, events: list[dict[str, Any]], sentence: str
) -> None:
    server.queue(*[Fault.odd(*events)] * 3, "It is Paris.")
    with pytest.raises(ModelTransient, match=f"small at 127.* {sentence}"):
        await stream()
    assert await stream() == ["It is Paris."]


async def test_a_stream_that_says_not_why_it_ended_is_taken_where_its_text_is_whole(
    server: ScriptedServer,
) -> None:
    for texts in (("It is ", "Paris."), ("It is Paris. [1]",), ("巴黎。",), ("Paris",)):
        counted = [COUNTED] if texts == ("Paris",) else []
        server.queue(Fault.odd(*(event({"content": part}) for part in texts), *counted))
        assert "".join(await stream()) == "".join(texts)


async def test_a_server_that_refuses_a_schema_is_asked_in_words_from_then_on_unless_it_refuses_these_too(
    server: ScriptedServer,
) -> None:
    server.queue(*[Fault.status(400)] * 2)
    with pytest.raises(ModelError, match="refused the request"):
        await grade()
    server.queue(Fault.status(400, "response_format is not supported"), {"verdict": "a"}, {"verdict": "b"})
    assert [await grade(), await grade()] == [Grade(verdict="a"), Grade(verdict="b")]
    assert [r.method for r in server.requests] == ["json_schema", "text", "json_schema", "text", "text"]


async def test_a_reply_that_the_server_cut_off_is_taken_as_far_as_it_goes_and_a_stream_tells(
    server: ScriptedServer,
) -> None:
    server.queue(*[Fault.length("It is Pa")] * 2, Fault.length('{"verdict": "so lo'), {"verdict": "short"})
    assert await text() == "It is Pa"
    seen: list[str] = []
    with pytest.raises(ReplyCut, match=r"cut off after 3 tokens\. Raise RAGWEAVE_CHAT_TOKENS"):
        await stream(seen=seen)
    assert "".join(seen) == "It is Pa"
    meter = Meter()
    assert await grade(meter) == Grade(verdict="short")
    assert meter.spent.calls == 2
    assert [r.method for r in server.requests[2:]] == ["json_schema", "json_schema"]


@pytest.mark.parametrize(
    "finish",
    ["length", "MAX_TOKENS", "model_length", "limit", "max_output_tokens", "model_context_window_exceeded"],
)
async def test_a_limit_of_tokens_is_known_by_any_of_its_names(server: ScriptedServer, finish: str) -> None:
    server.queue(Fault.odd(event({"content": "It is Pa"}), event({}, finish), COUNTED))
    with pytest.raises(ReplyCut, match="cut off after 3 tokens"):
        await stream()


async def test_an_odd_count_behind_a_whole_reply_does_not_spoil_it(server: ScriptedServer) -> None:
    count = {"choices": [], "usage": {"prompt_tokens": "3", "completion_tokens": None}}
    server.queue(Fault.odd(event({"content": "It is Paris."}), event({}, "stop"), count))
    assert await stream() == ["It is Paris."]


async def test_offline_allows_this_machine_only(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    server.queue("fine")
    assert await text() == "fine"
    monkeypatch.setenv("RAGWEAVE_CHAT_URL", "http://models.example.org/v1")
    model_settings.cache_clear()
    with pytest.raises(ModelError, match=r"RAGWEAVE_OFFLINE is set and small at models\.example\.org is not"):
        await text()


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("nosuchprovider:m", "nosuchprovider"),
        ("cohere:command-r", "needs a package that is not installed"),
        (
            "openai:gpt-4o-mini",
            r"there is no key for gpt-4o-mini at api\.openai\.com\. Set RAGWEAVE_CHAT_KEY",
        ),
    ],
)
async def test_a_model_that_cannot_be_made_is_told(
    monkeypatch: pytest.MonkeyPatch, setting: str, sentence: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("RAGWEAVE_CHAT", setting)
    with pytest.raises(ModelError, match=sentence):
        await text()


async def test_pictures_are_sent_as_data_urls_with_the_last_message_and_count_as_tokens(
    server: ScriptedServer,
) -> None:
    server.queue("A lighthouse.", {"verdict": "yes"}, "A lighthouse.")
    meter, images = Meter(Limits(calls=-1, tokens=8_000)), [b"\xff\xd8first"]
    assert await writer().text(ASK, node="n", meter=meter, images=images) == "A lighthouse."
    await writer().json(ASK, Grade, node="n", meter=meter, images=images)
    assert (
        "".join([p async for p in writer().stream(ASK, node="n", meter=meter, images=images)])
        == "A lighthouse."
    )
    for request in server.requests:
        system, user = request.messages
        assert system["content"] == "Be brief."
        assert user["content"][0]["text"].startswith("Capital of France?")
        assert user["content"][1]["image_url"]["url"].startswith("data:image/jpeg;base64,/9hmaXJzd")
    with pytest.raises(BudgetSpent):
        await writer().text(ASK, node="n", meter=meter, images=[b"1"] * 8)


async def test_a_server_is_told_how_long_a_reply_may_be_unless_it_refuses_such_a_limit(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_TOKENS", "99")
    server.queue(
        Fault.status(400, "'max_tokens' is too large: the maximum context length is 2048"), "fine", "fine"
    )
    assert await text() == "fine" and "".join(await stream()) == "fine"
    assert [r.body.get("max_tokens") for r in server.requests] == [99, None, None]
