"""Documents of LangChain loaders as sources of a library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.document_loaders import BaseBlobParser, BaseLoader, Blob
from langchain_core.documents import Document

from ragweave import Context, aask, aindex
from ragweave.corpora.store.library import open_library
from ragweave.models.errors import InputError


class Pages(BaseLoader):
    """Gives a document for each page of one file, as the loaders of PDF files do."""

    def __init__(self, *pages: str) -> None:
        self.pages = pages

    def lazy_load(self) -> Iterator[Document]:
        for n, text in enumerate(self.pages):
            yield Document(text, metadata={"source": "/mnt/../Tarn Mill: a history.pdf", "page": n})


class Rows(BaseBlobParser):
    """Gives a document without a source for each line of a blob."""

    def lazy_parse(self, blob: Blob) -> Iterator[Document]:
        for line in blob.as_string().splitlines():
            yield Document(line)


PAGES = ("The Tarn Mill made paper.", "It was set up by Ilse Marwen in 1871.")


async def test_pages_of_one_source_are_one_file_that_answers_and_is_cited(home: Path) -> None:
    report = await aindex(documents=Pages(*PAGES).load(), library="mills")
    assert (report.indexed, report.failed) == (1, [])
    answer = await aask("Who set up the Tarn Mill?", library="mills", context=Context(mode="extractive"))
    assert "Ilse Marwen" in answer.text
    file = Path(answer.citations[0].locator["file"])
    assert file.name == "Tarn Mill a history.txt" and home in file.parents


async def test_rows_without_a_source_are_documents_of_their_own_beside_others(home: Path) -> None:
    blob = Blob.from_data("Rye bread is baked at 250 degrees.\n\nThe moon has craters.")
    await aindex(documents=Pages(*PAGES).load())
    report = await aindex(documents=[*Rows().lazy_parse(blob)])
    assert report.indexed == 2
    assert len(await (await open_library()).sources()) == 3, "what was indexed before stays"


async def test_the_same_documents_cost_a_hash_and_changed_ones_take_the_place_of_the_old(home: Path) -> None:
    await aindex(documents=Pages(*PAGES).load())
    assert (await aindex(documents=Pages(*PAGES).load())).unchanged == 1
    await aindex(documents=Pages(PAGES[0], "It was set up by Bert Osk in 1950.").load())
    answer = await aask("Who set up the Tarn Mill?", context=Context(mode="extractive"))
    assert "Bert Osk" in answer.text and "Ilse" not in answer.text


async def test_documents_without_text_are_refused(home: Path) -> None:
    with pytest.raises(InputError, match="no text"):
        await aindex(documents=[Document(" \n")])
