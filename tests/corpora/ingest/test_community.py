"""Loaders and retrievers of langchain-community as sources of a library."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ragweave import Context, aask, aindex

loaders = pytest.importorskip("langchain_community.document_loaders", reason="`make setup-dev` installs it")


async def test_what_its_loaders_read_answers_with_a_citation(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mill.txt").write_text("The Tarn Mill was set up by Ilse Marwen in 1871.", encoding="utf-8")
    with (tmp_path / "ferries.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("ferry", "captain"), ("Heron", "Bert Osk"), ("Gull", "Ada Lund")])
    found = [loaders.TextLoader(str(tmp_path / "mill.txt")), loaders.CSVLoader(str(tmp_path / "ferries.csv"))]
    report = await aindex(documents=[document for loader in found for document in loader.load()])
    assert (report.indexed, report.failed) == (2, [])
    for question, said in (("Who set up the Tarn Mill?", "Ilse Marwen"), ("Who is captain of the Gull?", "Ada Lund")):
        answer = await aask(question, context=Context(mode="extractive"))
        assert said in answer.text and answer.citations


async def test_what_its_retriever_found_can_be_indexed(home: Path, tmp_path: Path) -> None:
    from langchain_community.retrievers import TFIDFRetriever

    said = ["The Tarn Mill was set up by Ilse Marwen.", "The moon has craters.", "Rye bread is baked at 250 degrees."]
    retriever = TFIDFRetriever.from_texts(said, metadatas=[{"source": f"{n}"} for n in range(3)], k=1)
    await aindex(documents=await retriever.ainvoke("Who set up the Tarn Mill?"))
    assert "Ilse Marwen" in (await aask("Who set up the Tarn Mill?", context=Context(mode="extractive"))).text
    assert (await aask("What has the moon?", context=Context(mode="extractive"))).abstained


async def test_what_was_indexed_stays_as_it_was_until_it_is_indexed_again(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "mill.txt"
    path.write_text("The Tarn Mill was set up by Ilse Marwen in 1871.", encoding="utf-8")
    await aindex(documents=loaders.TextLoader(str(path)).load())
    path.write_text("The Tarn Mill was set up by Bert Osk in 1950.", encoding="utf-8")
    assert "Ilse Marwen" in (await aask("Who set up the Tarn Mill?", context=Context(mode="extractive"))).text
    await aindex(documents=loaders.TextLoader(str(path)).load())
    assert "Bert Osk" in (await aask("Who set up the Tarn Mill?", context=Context(mode="extractive"))).text
