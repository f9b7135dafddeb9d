"""CRAG around a retriever of LangChain."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

import ragweave
from ragweave.corpora.settings import corpora_settings

FILLING = "The hedge is cut in March. The roses need water in summer. The grass by the wall is left long."
PUMP = Document(
    f"{FILLING} The pump in the cellar was built by the Orlow company in 1987. It lifts ninety litres. {FILLING}",
    id="7",
    metadata={"source": "pump.md", "page": 3, "shelf": "B"},
)
BREAD = Document("Mix rye flour, water and salt. Let the dough rest.", metadata={"source": "bread.md"})
BUILT = "Who built the pump in the cellar?"


class Shelf(BaseRetriever):
    """Finds the same documents for each query."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that stands in for the web."""
    (tmp_path / "web").mkdir()
    page = (
        '<html><head><title>Pump</title><link rel="canonical" href="https://example.org/pump"></head>'
        "<body><p>The pump in the cellar was built by the Orlow company.</p></body></html>"
    )
    (tmp_path / "web" / "pump.html").write_text(page, encoding="utf-8")
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path / "web"))
    corpora_settings.cache_clear()


async def test_a_correct_document_is_returned_as_the_strips_that_bear_on_the_query(home: Any) -> None:
    found = await ragweave.CragRetriever(retriever=Shelf(documents=[BREAD, PUMP])).ainvoke(BUILT)
    assert found[0].metadata["verdict"] == "correct" and found[0].metadata["origin"] == "library"
    assert "Orlow" in found[0].page_content and len(found[0].page_content) < len(PUMP.page_content)
    kept = found[0].metadata
    assert (kept["source"], kept["page"], kept["shelf"], found[0].id) == ("pump.md", 3, "B", "7")
    assert "rye" not in " ".join(d.page_content for d in found)


async def test_what_is_incorrect_is_dropped_and_the_missing_web_is_logged(
    home: Any, caplog: pytest.LogCaptureFixture
) -> None:
    retriever = ragweave.CragRetriever(retriever=Shelf(documents=[BREAD]))
    assert await retriever.ainvoke(BUILT) == []
    context = ragweave.Context(web="auto", method={"strip_mode": "sentences"})
    with caplog.at_level(logging.WARNING):
        assert await retriever.model_copy(update={"context": context}).ainvoke(BUILT) == []
    assert "RAGWEAVE_WEB_FOLDER" in caplog.text


@pytest.mark.usefixtures("pages")
def test_what_is_incorrect_is_searched_in_the_web_where_that_is_allowed(home: Any) -> None:
    context = ragweave.Context(web="auto", method={"strip_mode": "sentences"})
    retriever = ragweave.CragRetriever(retriever=Shelf(documents=[BREAD]), context=context)
    (page,) = retriever.invoke(BUILT)
    assert "Orlow" in page.page_content
    assert page.metadata["source"] == "https://example.org/pump" and page.metadata["origin"] == "web"
    assert page.metadata["verdict"] == "incorrect"


async def test_a_retriever_that_finds_nothing_gives_nothing(home: Any) -> None:
    assert await ragweave.CragRetriever(retriever=Shelf(documents=[])).ainvoke(BUILT) == []


def test_a_field_that_does_not_exist_is_refused_with_a_remedy() -> None:
    with pytest.raises(ragweave.RagweaveError) as caught:
        ragweave.CragRetriever(retriever=Shelf(documents=[]), kk=3)  # type: ignore[call-arg]
    assert "docs/python.md" in str(caught.value)
