"""Speech of which its recogniser was not sure: found like any, and told by no path without its mark."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aask, asearch
from ragweave.app.integrations import _content
from ragweave.app.places import place
from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.models.chat import override
from ragweave.serve.quotes import where
from ragweave.tests.support.talks import KITCHEN, TALK, script, vtt

MARK = "(heard, perhaps wrongly)"
SMALL = Context(mode="extractive")


def doubt(catalog: Path) -> None:
    """Turn what people wrote into what a recogniser heard that was half sure of it, as indexing would store it."""
    with sqlite3.connect(catalog) as database:
        found = database.execute(
            "SELECT n, locator, spans, meta FROM items WHERE corpus IN ('clip', 'video')"
        )
        for n, locator, spans, meta in found.fetchall():
            sure = json.loads(meta) | {"sure": [0.5] * len(json.loads(spans)), "speech": "whisper"}
            told = json.loads(locator) | {"doubtful": True}
            database.execute(
                "UPDATE items SET locator = ?, meta = ? WHERE n = ?", (json.dumps(told), json.dumps(sure), n)
            )


@pytest.fixture(autouse=True)
def _heard(stock: Callable[[Mapping[str, str]], Path]) -> None:
    [catalog] = stock({"comet.vtt": vtt(TALK), "bread.vtt": vtt(KITCHEN)}).glob("libraries/*/catalog.sqlite")
    doubt(catalog)


def assert_marked(answer: Answer) -> None:
    """Every sentence and every place of an answer is marked."""
    assert answer.citations
    assert all(s.text.endswith(MARK) for s in answer.sentences), answer.text
    assert all(c.locator.get("doubtful") for c in answer.citations), answer.citations
    assert MARK in answer.text


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Who found the comet?", "Ada Ostrander"),
        ("How long does the dough rest?", "sixteen hours"),
    ],
)
@pytest.mark.parametrize("graph", ["agent", "video_rag"])
async def test_without_a_model_nothing_that_was_heard_is_quoted_unmarked(
    question: str, says: str, graph: str
) -> None:
    answer = await aask(question, context=SMALL, graph=graph)
    assert answer.kind == "quotes" and says in answer.text
    assert_marked(answer)


@pytest.mark.parametrize("checked", ["on", "off"])
async def test_what_a_chat_model_says_of_it_is_marked_once(checked: Any) -> None:
    def said(messages: list[Any]) -> str:
        parts = messages[-1].text.split("Evidence:")[1].split("<<<")[1:]
        n = 1 + next(n for n, part in enumerate(parts) if "sixty centimetres" in part)
        found = "The comet was found by Ada Ostrander in 1889 [1]."
        return f"{found} Her telescope had a mirror of sixty centimetres [{n}]."

    with override(writer=script(generate=said)):
        answer = await aask(
            "Who found the comet?", context=Context(mode="llm", check_by=checked), graph="video_rag"
        )
    assert answer.mode == "llm" and len(answer.sentences) == 2
    assert_marked(answer)
    assert answer.text.count(MARK) == 2


async def test_a_place_says_it_wherever_it_is_shown() -> None:
    found = await asearch("Who found the comet?")
    rows = [e for e in found if e["corpus"] == "clip"]
    assert rows and all(place(e["locator"]).endswith(MARK) for e in rows)
    assert where(rows[0]["locator"]).endswith(MARK)
    answer = await aask("Who found the comet?", context=SMALL, graph="video_rag")
    places = [line for line in _content(answer).splitlines() if line.startswith("[")]
    assert len(places) == len(answer.citations) and all(line.endswith(MARK) for line in places)
