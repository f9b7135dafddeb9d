"""Build the answer prompts of the papers: their evidence, in their order, without numbers (`method.form`)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import chain

from ragweave.components.evidence import Evidence, Strip
from ragweave.components.generation_input import GenerationInput
from ragweave.components.passages import headed, untitled
from ragweave.models.text import clock
from ragweave.prompts import Messages, load, quote

_PARAGRAPHS = "several paragraphs"
_JOINT = "; "
"""Separates recomposed strips (CRAG, section 4.4)."""


def answer_messages(
    form: str,
    given: GenerationInput,
    rows: Sequence[Sequence[Strip]],
    chunks: Sequence[Evidence],
    known: Mapping[str, Evidence],
    length: str,
) -> Messages:
    """Return the prompt of a paper: UniversalRAG and Auto-RAG, RAG-Fusion, CRAG, or VideoRAG.

    Args:
        form: as in `method.form`.
        given: the question and the evidence.
        rows: the strips of each item, best first.
        chunks: clips to read as well (VideoRAG, section 3.3).
        known: evidence by id.
        length: length of the answer, in words.
    """
    question = given.question
    if form == "crag":
        return load("answer_knowledge", question=question, evidence=_knowledge(rows), length=length)
    if form == "video-rag":
        length = _PARAGRAPHS if length.startswith("as many") else length
        clips = quote(_table(rows, known))
        speech = _speech(chunks)
        return load("answer_recordings", question=question, evidence=clips, chunks=speech, length=length)
    evidence = _evidence(rows, known)
    if form == "rag-fusion":
        queries = "\n".join(given.queries) or question
        return load("answer_fused", question=question, evidence=evidence, queries=queries, length=length)
    return load("answer", question=question, evidence=evidence, length=length)


def _evidence(rows: Sequence[Sequence[Strip]], known: Mapping[str, Evidence]) -> str:
    """Return each item as a quote with its title."""
    quotes: list[str] = []
    for row in rows:
        title = headed(row[0]["title"], known.get(row[0]["evidence"]))
        text = " ".join(map(untitled, row))
        quotes.append(quote(f"{title}\n{text}"))
    return "\n\n".join(quotes) or "(nothing was retrieved)"


def _speech(chunks: Sequence[Evidence]) -> str:
    """Return the clips of chunks as one quote."""
    if not chunks:
        return "(none)"
    texts = [f"{e['title']}\n{e['text']}" for e in chunks]
    return quote("\n\n".join(texts))


def _knowledge(rows: Sequence[Sequence[Strip]]) -> str:
    """Return strips recomposed, best first; library and web are separate (CRAG, section 4.5)."""
    own: list[str] = []
    web: list[str] = []
    for strip in sorted(chain.from_iterable(rows), key=lambda s: (-s["score"], s["id"])):
        (web if strip["origin"] == "web" else own).append(untitled(strip))
    if not (own and web):
        return f"Knowledge: {quote(_JOINT.join(own or web))}"
    return f"Knowledge1: {quote(_JOINT.join(own))}\n[sep]\nKnowledge2: {quote(_JOINT.join(web))}"


def _table(rows: Sequence[Sequence[Strip]], known: Mapping[str, Evidence]) -> str:
    """Return clips as CSV: recording, begin, end, content (VideoRAG, the published program)."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["video_name", "start_time", "end_time", "content"])
    for row in rows:
        place = row[0]["locator"]
        title = headed(row[0]["title"], known.get(row[0]["evidence"]))
        start = clock(place["start"]) if "start" in place else ""
        end = clock(place["end"]) if "end" in place else ""
        table.writerow([title, start, end, " ".join(map(untitled, row))])
    return out.getvalue()
