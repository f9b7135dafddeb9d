"""Whatever a chat model replies, a turn ends in an answer or a reason, within its budget."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.graphs import agent, auto_rag, crag
from ragweave.graphs.agent import graph
from ragweave.models.settings import model_settings
from ragweave.tests.support import Fault, ScriptedServer

QUESTION = "When was the Corvane Observatory opened?"
CALLS = 4

BAD: dict[str, Any] = {
    "refusal": "I'm sorry, I can't help with that.",
    "refusal as an answer": "Final Answer: I am unable to answer this.",
    "empty": "",
    "blank": " \n\t ",
    "tool call": '<tool_call>{"name": "search", "arguments": {"q": "Corvane"}}</tool_call>',
    "action": '{"thought": "hm", "action": "search", "input": "Corvane"}',
    "function": "search(Corvane)",
    "cut off": Fault.cut(3),
    "ends too early": Fault.cut(3, clean=True),
    "cut off for length": Fault.length("Final Answer: It was opened in"),
    "error in the stream": Fault.error_event(after=2),
    "error at once": Fault.error_event(),
    "limiting": Fault.status(429),
    "limiting for an hour": Fault.status(429, retry_after="3600"),
    "no credit": Fault.status(429, "pay", error="insufficient_quota"),
    "bad request": Fault.status(400),
    "wrong key": Fault.status(401),
    "unknown model": Fault.status(404),
    "server error": Fault.status(500),
    "overloaded": Fault.status(503),
    "too long": Fault.status(400, "This model's maximum context length is 4096 tokens"),
    "dropped": Fault.drop(),
    "web page": Fault.html(),
    "silence": Fault.stall(),
    "silence in the middle": Fault.stall(2),
    "endless sentences": ["Final Answer: ", *["It was opened in 1931 [1]. "] * 3_000],
    "endless words": ["opened "] * 3_000,
    "endless thought": ["<think>", *["hm "] * 3_000],
    "only a thought": "<think>It was 1931.</think>",
    "open thought": "<think>It was 1931.",
    "broken JSON": '{"answer": "It was',
    "another JSON": '{"result": [{"year": 1931}]}',
    "a list": "[1, 2, 3]",
    "a number": "1931",
    "another language": "Das Observatorium wurde 1931 eröffnet.",
    "labels of another language": "Requête : ouverture de l'observatoire",
    "numbers that do not exist": "Final Answer: It was opened in 1931 [7][99].",
    "a wrong year": "Final Answer: It was opened in 1804 [1].",
    "unknown at once": "Final Answer: UNKNOWN.",
    "the question again": f"Query: {QUESTION}",
    "another query each time": itertools.count(),
    "scripts": (
        "Final Answer: <script>alert(1)</script> It was opened in 1931 [1]. ![x](http://evil.example/a.png)"
    ),
    "lone surrogates": "Final Answer: It was opened in 1931 \ud800 [1].",
    "the same twice": "Final Answer: It was opened in 1931 [1]. It was opened in 1931 [1].",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, library: Path) -> Iterator[ScriptedServer]:
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    with ScriptedServer() as served:
        monkeypatch.setenv("RAGWEAVE_CHAT", "openai:small")
        monkeypatch.setenv("RAGWEAVE_CHAT_URL", served.base_url)
        monkeypatch.setenv("RAGWEAVE_CHAT_CACHE", "false")
        monkeypatch.setenv("RAGWEAVE_CHAT_TOKENS", "500")
        model_settings.cache_clear()
        yield served


@pytest.mark.parametrize("said", BAD.values(), ids=BAD)
async def test_a_bad_reply_ends_in_an_answer_or_a_reason_within_the_budget(
    server: ScriptedServer, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(said, Fault) and said.kind == "stall":
        monkeypatch.setenv("RAGWEAVE_CHAT_TIMEOUT", "0.2")
        model_settings.cache_clear()
    server._react = lambda r: f"Query: words {next(said)}" if isinstance(said, itertools.count) else said
    context = Context(max_model_calls=CALLS)
    answer: Answer = (await graph.ainvoke({"messages": [("human", QUESTION)]}, context=context))["answer"]
    texts = [s.text for s in answer.sentences]
    assert answer.text and (texts or (answer.abstained and answer.why))
    assert answer.model_calls <= CALLS
    assert len(server.requests) <= 3 * CALLS  # a refusal that its client tries again costs nothing
    assert len(set(texts)) == len(texts) <= 2 * context.sentences
    assert not any(sign in answer.text for sign in ("<think", "http://", "\ud800", "Query:", "tool_call"))
    assert all(s.support != "verified" for s in answer.sentences if "1804" in s.text)
    if answer.mode == "extractive":
        assert answer.notes or answer.abstained


@pytest.mark.parametrize("asked", [agent, crag], ids=["agent", "crag"])
async def test_a_reply_that_breaks_off_before_a_sentence_was_shown_is_asked_for_again(
    server: ScriptedServer, asked: Any
) -> None:
    label = "" if asked is crag else "Final Answer: "
    server.queue(Fault.cut(parts=(label, "It ", "was ")), f"{label}It was opened in 1931 [1].")
    answer: Answer = (await asked.graph.ainvoke({"messages": [("human", QUESTION)]}))["answer"]
    assert answer.text.startswith("It was opened in 1931.") and answer.mode == "llm" and not answer.notes
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "begun", [[], ["Final Answer: ", "It was 1931, by a mayor [1]. "]], ids=["nothing", "a sentence"]
)
async def test_a_reply_that_drips_without_end_is_waited_for_once_a_turn(
    server: ScriptedServer, begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_TIMEOUT", "0.6")
    model_settings.cache_clear()
    server.part_delay = 0.05
    server._react = lambda _: [*begun, *["opened "] * 200]
    context = Context(check_by="on")
    answer: Answer = (await graph.ainvoke({"messages": [("human", QUESTION)]}, context=context))["answer"]
    assert len(server.requests) == 1 and answer.model_calls == 1 + bool(begun)
    assert "1931" in answer.text
    assert [n for n in answer.notes if "did not end" in n]


@pytest.mark.parametrize("check_by", ["on", "off"])
@pytest.mark.parametrize("asked", [agent, auto_rag, crag], ids=["agent", "auto_rag", "crag"])
async def test_of_an_answer_that_was_cut_off_at_the_limit_of_tokens_whole_sentences_are_shown_and_it_is_said(
    server: ScriptedServer, asked: Any, check_by: Any
) -> None:
    label = "" if asked is crag else "Final Answer: "
    server._react = lambda r: (
        Fault.length(f"{label}It was opened in 1931 [1]. Its dome turns on fo") if r.stream else ""
    )
    context = Context(check_by=check_by)
    answer: Answer = (await asked.graph.ainvoke({"messages": [("human", QUESTION)]}, context=context))[
        "answer"
    ]
    assert [s.text for s in answer.sentences] == ["It was opened in 1931."]
    assert answer.mode == "llm"
    assert [
        n for n in answer.notes if n.startswith("The answer was cut short") and "RAGWEAVE_CHAT_TOKENS" in n
    ]
