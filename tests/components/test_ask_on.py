"""What is searched next without a model."""

from pathlib import Path
from typing import Any

import pytest

from ragweave.components.ask_on import next_queries, open_words
from ragweave.components.context import Context
from ragweave.components.knowledge import Knowledge
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import Library, open_library
from ragweave.graphs.agent import graph

TEXTS = {
    "Big Gap": "Big Gap is a film of 2014 that was directed by Orla Venn.",
    "Orla Venn": "Orla Venn is an author who lives in Kelder.",
    "Kelder": "Kelder is a town on the river Sarn.",
    "Ferry": "The ferry leaves the pier at noon.",
    "Bread": "Rye bread is fed with flour and water every day.",
}
QUESTION = "Which river flows by the town of the director of Big Gap?"


@pytest.fixture
async def library(tmp_path: Path, home: Path) -> Library:
    folder = tmp_path / "texts"
    folder.mkdir()
    for title, text in TEXTS.items():
        (folder / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    await index([folder])
    return await open_library()


def known(question: str, *titles: str) -> Knowledge:
    rows: Any = [{"id": t, "title": t, "text": TEXTS[t], "relevance": 0.5} for t in titles]
    hop: Any = {"n": 1, "query": question}
    return Knowledge(question, [hop], rows)


def test_words_are_open_if_no_lead_holds_them_and_they_weigh_enough() -> None:
    rows: Any = known(QUESTION, "Big Gap").rows
    weights = {"river": 2.0, "flow": 1.0, "town": 1.0, "director": 1.0, "big": 1.0, "gap": 1.0, "direct": 1.0}
    assert "river" in open_words(QUESTION, rows, weights) and "gap" not in open_words(QUESTION, rows, weights)
    assert open_words("Who directed Big Gap?", rows, weights) == []


async def test_the_name_in_the_best_passage_is_searched_with_the_open_words(library: Library) -> None:
    (query,) = next_queries(library, known(QUESTION, "Big Gap"))
    assert query.startswith("Orla Venn ") and "river" in query.split() and "Gap" not in query
    assert next_queries(library, known(QUESTION, "Ferry")) == [], "nothing is named"
    assert next_queries(library, known("Who directed Big Gap?", "Big Gap")) == [], "nothing is open"
    asked = known(QUESTION, "Big Gap")
    asked.hops[0]["also"] = [query]
    assert next_queries(library, asked) == [], "that was searched before"


async def test_three_hops_are_walked_without_a_model(library: Library) -> None:
    given: Any = {"messages": [("human", QUESTION)]}
    state = await graph.ainvoke(given, context=Context(mode="extractive", top_k=2))
    assert len(state["hops"]) > 1
    assert {"Big Gap", "Orla Venn", "Kelder"} <= {e["title"] for e in state["evidence"]}
