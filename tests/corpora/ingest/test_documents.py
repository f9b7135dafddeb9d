"""Documents of LangChain loaders, and what its retrievers found, as sources of a library."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.documents import Document

from ragweave import Context, aask, aindex
from ragweave.corpora.store.library import open_library
from ragweave.models.errors import InputError

loaders = pytest.importorskip("langchain_community.document_loaders", reason="`make setup-dev` installs it")
SOURCE = "/mnt/../Tarn Mill: a history.pdf"


def pages(*texts: str) -> list[Document]:
    return [Document(text, metadata={"source": SOURCE, "page": n}) for n, text in enumerate(texts)]


async def told(question: str) -> str:
    return (await aask(question, context=Context(mode="extractive"))).text


async def test_pages_of_one_source_are_one_file_that_is_cited_and_replaced(home: Path) -> None:
    first = pages("The Tarn Mill made paper.", "It was set up by Ilse Marwen in 1871.")
    report = await aindex(documents=first)
    assert (report.indexed, report.failed) == (1, [])
    answer = await aask("Who set up the Tarn Mill?", context=Context(mode="extractive"))
    file = Path(answer.citations[0].locator["file"])
    assert "Ilse Marwen" in answer.text and file.name == "Tarn Mill a history.txt" and home in file.parents
    assert (await aindex(documents=first)).unchanged == 1
    await aindex(documents=pages("The Tarn Mill made paper.", "It was set up by Bert Osk in 1950."))
    text = await told("Who set up the Tarn Mill?")
    assert "Bert Osk" in text and "Ilse" not in text


async def test_rows_without_a_source_are_documents_of_their_own_and_empty_ones_refused(home: Path) -> None:
    with pytest.raises(InputError, match="no text"):
        await aindex(documents=[Document(" \n")])
    rows = [Document("Rye bread is baked at 250 degrees."), Document(""), Document("The moon has craters.")]
    assert (await aindex(documents=[*rows, *pages("The Tarn Mill made paper.")])).indexed == 3
    assert len(await (await open_library()).sources()) == 3


async def test_what_loaders_of_the_community_read_answers(home: Path, tmp_path: Path) -> None:
    (tmp_path / "ferries.csv").write_text("ferry,captain\nHeron,Bert Osk\nGull,Ada Lund\n")
    assert (await aindex(documents=loaders.CSVLoader(str(tmp_path / "ferries.csv")).load())).indexed == 1
    assert "Ada Lund" in await told("Who is captain of the Gull?")
