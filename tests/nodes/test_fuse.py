from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ragweave.components.context import Context
from ragweave.components.distinct import distinct
from ragweave.components.duplicates import collapse
from ragweave.components.evidence import RankedList
from ragweave.components.fusion import fused
from ragweave.components.local import rank as node
from ragweave.components.local.rank import score_pools
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item
from ragweave.graphs.rag_fusion import graph
from ragweave.models.chat import override
from ragweave.models.errors import InputError, ModelError
from ragweave.models.relevance import Passage
from ragweave.nodes import fuse as fusing
from ragweave.nodes.fuse import fuse
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.library import build_library
from ragweave.tests.support.rows import evidence

TEXTS = {
    "tower.md": "# Tower\n\nThe lighthouse tower of Pell is 40 metres tall.\n",
    "copy.md": "# Notes on the coast\n\nThe lighthouse tower  of Pell is 40 metres tall.\n",
    "bread.md": "# Bread\n\nMix rye flour and water, and let the dough rest for sixteen hours.\n",
    "lens.md": "# Lens\n\nThe lens of the lighthouse weighs three tonnes and was made in Ostrand.\n",
}
QUESTION = "How tall is the lighthouse tower of Pell?"


@pytest.fixture
def stocked(stock: Any) -> None:
    stock(TEXTS)


@pytest.fixture
async def library(stocked: None) -> Library:
    return await open_library()


async def found(library: Library, *queries: str) -> list[RankedList]:
    lists: list[RankedList] = []
    for query, both in zip(queries, await library.search("paragraph", queries), strict=True):
        for kind, hits in (("dense", both.dense), ("lexical", both.lexical)):
            ids, scores = [h.id for h in hits], [h.score for h in hits]
            lists.append({"corpus": "paragraph", "query": query, "kind": kind, "ids": ids, "scores": scores})  # type: ignore[typeddict-item]
    return lists


def ranked_list(query: str, kind: str, ids: str, corpus: str = "paragraph") -> RankedList:
    scores = [float(len(ids) - n) for n in range(len(ids))]
    return {"corpus": corpus, "query": query, "kind": kind, "ids": list(ids), "scores": scores}  # type: ignore[typeddict-item]


def test_pure_rank_fusion_is_the_published_sum() -> None:
    lists = [
        ranked_list("q", "lexical", "ab"),
        ranked_list("q", "dense", "ba"),
        ranked_list("r", "dense", "cb"),
    ]
    context = knobs_of(form="rag-fusion", fusion="rrf", dense_weight=1)
    scores = dict(fused(lists, "q", context))
    assert scores == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 61 + 1 / 62, "c": 1 / 61})


def item(id: str, text: str, **changes: Any) -> Item:
    made = Item(id, "paragraph", f"s-{id}", "Title", text, {"kind": "heading", "file": f"/{id}.md"})
    return replace(made, **changes)


def test_same_text_is_kept_once_with_every_place() -> None:
    kept = collapse(
        [item("b", "The tower\nis TALL."), item("a", "the tower is tall."), item("c", "Another.")]
    )
    assert [(i.id, [place["file"] for place in also]) for i, also in kept] == [("b", ["/a.md"]), ("c", [])]


async def test_duplicate_in_the_library_becomes_one_row_with_both_files(library: Library) -> None:
    pool = fused(await found(library, QUESTION), QUESTION, Context())
    (rows,), _ = await score_pools(library, QUESTION, [pool], Context(), 1)
    first = rows[0]
    files = {Path(first["locator"]["file"]).name, *(Path(place["file"]).name for place in first["also"])}
    assert files == {"tower.md", "copy.md"}
    assert sum("40 metres" in r["text"] for r in rows) == 1


class Judge:
    """A cross-encoder that likes bread."""

    name = "bread"

    def __init__(self) -> None:
        self.read: list[int] = []

    def scores(self, question: str, passages: Sequence[Passage]) -> Any:
        self.read.append(len(passages))
        return np.array([float("rye" in p.text) for p in passages])


async def test_cross_encoder_orders_and_the_verdict_stays_with_the_relevance_model(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge()
    monkeypatch.setattr(node, "reranker", lambda: judge)
    monkeypatch.setattr(node, "STRONG", 1.1)
    pool = fused(await found(library, QUESTION, "rye bread"), QUESTION, Context())
    (rows,), _ = await score_pools(library, QUESTION, [pool], Context(), 1)
    assert "rye" in rows[0]["text"]
    assert rows[0]["relevance"] < max(r["relevance"] for r in rows)
    assert judge.read == [3]


@pytest.mark.parametrize("where", ["load", "score"])
async def test_cross_encoder_that_fails_is_noted_and_the_shipped_head_orders(
    where: str, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Judge):
        def scores(self, question: str, passages: Sequence[Passage]) -> Any:
            raise ModelError("api:m at host failed", "check RAGWEAVE_RERANK")

    def make() -> Judge:
        if where == "load":
            raise InputError("there is no reranker 'x'", "set RAGWEAVE_RERANK")
        return Broken()

    monkeypatch.setattr(node, "reranker", make)
    monkeypatch.setattr(node, "STRONG", 1.1)
    pool = fused(await found(library, QUESTION), QUESTION, Context())
    notes: list[str] = []
    (rows,), _ = await score_pools(library, QUESTION, [pool], Context(), 1, notes)
    assert "40 metres" in rows[0]["text"]
    assert len(notes) == 1
    assert "RAGWEAVE_RERANK" in notes[0]


async def test_as_the_article_has_it_a_cross_encoder_orders_what_ranks_joined_and_age_multiplies_its_score(
    stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock({"old.md": "---\ndate: 2020-01-01\n---\n# Tower\n\nThe tower has rye bread.", **TEXTS})
    library = await open_library()
    monkeypatch.setattr(node, "reranker", lambda: Judge())
    pool = fused(await found(library, QUESTION), QUESTION, Context(preset="rag-fusion-paper"))
    first = {}
    for preset in ("rag-fusion-seed", "rag-fusion-paper"):
        (rows,), _ = await score_pools(library, QUESTION, [pool], Context(preset=cast(Any, preset)), 1)
        first[preset] = [row["text"] for row in rows[:2]]
    assert "40 metres" in first["rag-fusion-seed"][0]
    assert all("rye" in text for text in first["rag-fusion-paper"])
    summary, rows = await aged(library, QUESTION, preset="rag-fusion-paper")
    assert "newer first (half-life 7 days)" in summary
    assert "sixteen hours" in rows[0]["text"] and rows[0]["score"] == 1
    (old,) = [row for row in rows if row["date"].startswith("2020")]
    assert 0 < old["score"] < 0.001


@pytest.mark.parametrize(
    ("knobs", "noted"),
    [({}, "half-life 30 days"), ({"recency": "off"}, "")],
)
async def test_a_library_says_how_its_documents_age_and_a_run_has_the_last_word(
    library: Library, knobs: dict[str, Any], noted: str
) -> None:
    stores().catalog.set_ageing("default", "on", 30)
    summary, rows = await aged(library, QUESTION, **knobs)
    assert ("newer first" in summary) is bool(noted) and noted in summary
    assert all(("fresh" in row) is bool(noted) for row in rows)


async def test_as_published_one_corpus_keeps_the_order_of_its_cosines(library: Library) -> None:
    ids = (await found(library, QUESTION))[0]["ids"][::-1]
    row = {
        "corpus": "clip",
        "query": QUESTION,
        "kind": "dense",
        "ids": ids,
        "scores": [0.5, 0.4, 0.3, 0.2][: len(ids)],
    }
    runtime: Any = SimpleNamespace(
        context=Context(preset="universal-rag-paper"), stream_writer=lambda event: None
    )
    route = {"hop": 1, "corpora": ["clip"], "confidence": {"clip": 1.0}, "by": "local", "why": ""}
    state: Any = {"question": QUESTION, "query": QUESTION, "hop": 1, "found": [row], "routes": [route]}
    assert (await fuse(state, runtime))["candidates"] == ids[:1]


async def test_as_published_the_nearest_picture_is_kept_though_it_has_no_words(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [evidence("nearest", text="", relevance=-1.0), evidence("written", text=QUESTION, relevance=0.9)]

    async def order(*given: Any) -> list[Any]:
        return rows

    monkeypatch.setattr(fusing, "_order", order)
    kept = {}
    for preset in ("none", "universal-rag-paper"):
        runtime: Any = SimpleNamespace(
            context=Context(preset=preset, top_k=1), stream_writer=lambda event: None
        )
        with override(writer=ScriptedChat()):
            state: Any = {"question": QUESTION, "query": QUESTION, "hop": 1, "found": []}
            kept[preset] = (await fuse(state, runtime))["candidates"]
    assert kept == {"none": ["written"], "universal-rag-paper": ["nearest"]}


async def aged(library: Library, asked: str, **knobs: Any) -> tuple[str, list[Any]]:
    """Fuse the results of a question; return the summary of the step, and the rows."""
    events: list[Any] = []
    runtime: Any = SimpleNamespace(context=Context(**knobs), stream_writer=events.append)
    state: Any = {"question": asked, "query": asked, "hop": 1, "found": await found(library, asked)}
    update = await fuse(state, runtime)
    return events[0]["summary"], update["evidence"]


def test_of_equal_texts_the_newest_counts_and_keeps_the_place_of_the_first() -> None:
    old, new = datetime(2023, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        item("a", "It is 40 metres.", date=old),
        item("b", "It is 40 metres.", date=new),
        item("c", "Another."),
    ]
    kept = collapse(rows)
    assert [i.id for i, _ in kept] == ["b", "c"]
    assert [place["file"] for place in kept[0][1]] == ["/a.md"]


def test_of_a_whole_and_its_part_the_better_score_counts() -> None:
    whole = evidence(
        "whole", corpus="document", text="Fares. A ticket costs 4. Dogs travel free.", relevance=-0.97
    )
    part = evidence("part", corpus="paragraph", text="A ticket costs 4.", relevance=0.995)
    for rows in ([whole, part], [part, whole]):
        (kept,) = distinct(rows, 8)
        assert (kept["id"], kept["relevance"]) == ("whole", 0.995)


ODD_TEXTS = {
    "note.md": '# Note\n\nThe NEAR keyword and the quote " belong to the query syntax of FTS5.\n',
    "who.md": "# The Who\n\nThe Who are a band.\n",
}


@pytest.fixture
def odd_library(stock: Any) -> None:
    stock(ODD_TEXTS)


@pytest.mark.usefixtures("odd_library")
@pytest.mark.parametrize(
    "question",
    [
        "who are you and what was it",
        "to be or not to be",
        'NEAR("query syntax", 3)',
        '"unbalanced quote',
        "title:note AND * OR (",
        "FTS5 -keyword ^quote {text} : *",
        "'; DROP TABLE items; --",
        "% _ \\ \x00 keyword",
        "a" * 7_000,
        "keyword " * 900,
        "关键词\u200b 🙂 keyword",
    ],
)
async def test_odd_query_is_searched_literally(question: str) -> None:
    sent: Any = {"messages": [("human", question)]}
    state = await graph.ainvoke(sent, context=Context(mode="extractive"))
    assert state["answer"] is not None
    assert not any("could not be searched" in n for n in state["notes"])


async def test_a_question_that_was_sent_to_the_wrong_corpus_is_asked_of_the_others(
    tmp_path: Any, home: Any
) -> None:
    from ragweave.app.api import astate

    talk = (
        "WEBVTT\n\n00:00:05.000 --> 00:00:14.000\nThe boat inside is called Petrel, and she has been launched"
        " sixty-four times since 1988.\n"
    )
    note = (
        "# Bees\n\nA hive holds one queen and many thousand workers. The workers gather nectar in summer.\n"
    )
    await build_library(tmp_path / "files", {"walk.vtt": talk, "bees.md": note})
    found = await astate(
        "How often has Petrel been launched?", context=Context(mode="extractive", route_by="local")
    )
    answer = found["answer"]
    assert answer is not None
    assert "sixty-four" in answer.text
    assert [r["by"] for r in found["routes"]][-1:] == ["fallback"] or found["routes"][0]["corpora"] != [
        "paragraph"
    ]
    forced = await astate(
        "How often has Petrel been launched?", context=Context(mode="extractive", corpora=("paragraph",))
    )
    assert forced["answer"] is not None and forced["answer"].abstained
    assert len(forced["routes"]) == 1
