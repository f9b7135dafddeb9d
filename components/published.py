"""Ask for an answer as the papers do: what they show, in their order, without numbers (`method.form`)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from ragweave.components.evidence import Evidence, Strip
from ragweave.components.generation_input import GenerationInput
from ragweave.components.passages import headed, untitled
from ragweave.models.text import clock
from ragweave.prompts import Messages, load, quote

_PARAGRAPHS = "several paragraphs"
_JOINT = "; "
"""What stands between strips (CRAG, section 4.4: recomposed)."""


def answer_messages(
    form: str,
    given: GenerationInput,
    rows: Sequence[Sequence[Strip]],
    beside: Sequence[Evidence],
    known: Mapping[str, Evidence],
    length: str,
) -> Messages:
    """Return how a paper asks: UniversalRAG and Auto-RAG, RAG-Fusion, CRAG, or VideoRAG.

    Args:
        form: as in `method.form`.
        given: the question and what was found.
        rows: the strips of each item, best first.
        beside: clips of the chunks that are read as well (VideoRAG, section 3.3).
        known: evidence by id.
        length: how long the answer may be, in words.
    """
    whole = [_whole(row, known) for row in rows]
    if form == "rag-fusion":
        queries = "\n".join(given.queries) or given.question
        return load(
            "answer_fused", question=given.question, evidence=_all(whole), queries=queries, length=length
        )
    if form == "crag":
        return load("answer_knowledge", question=given.question, evidence=_knowledge(rows), length=length)
    if form == "video-rag":
        chunks = quote("\n\n".join(f"{e['title']}\n{e['text']}" for e in beside)) if beside else "(none)"
        length = _PARAGRAPHS if length.startswith("as many") else length
        clips = quote(_table(rows, known))
        return load(
            "answer_recordings", question=given.question, evidence=clips, chunks=chunks, length=length
        )
    return load("answer", question=given.question, evidence=_all(whole), length=length)


def _whole(row: Sequence[Strip], known: Mapping[str, Evidence]) -> str:
    title = headed(row[0]["title"], known.get(row[0]["evidence"]))
    return f"{title}\n{' '.join(untitled(s) for s in row)}"


def _all(texts: Sequence[str]) -> str:
    return "\n\n".join(map(quote, texts)) or "(nothing was retrieved)"


def _knowledge(rows: Sequence[Sequence[Strip]]) -> str:
    """Return strips recomposed, the best first; library and web stand apart (CRAG, section 4.5)."""
    strips = sorted((s for row in rows for s in row), key=lambda s: (-s["score"], s["id"]))
    own, web = ([untitled(s) for s in strips if (s["origin"] == "web") is of_web] for of_web in (False, True))
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
        times = [clock(place[end]) if end in place else "" for end in ("start", "end")]
        table.writerow(
            [headed(row[0]["title"], known.get(row[0]["evidence"])), *times, " ".join(map(untitled, row))]
        )
    return out.getvalue()
