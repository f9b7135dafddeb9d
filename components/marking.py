"""Have the sentences of an answer checked, and give each its mark and the citations that decide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragweave.components import exam
from ragweave.components.answer_builder import AnswerBuilder, Quoted
from ragweave.components.check import NOT_CHECKED, CheckedAnswer, CheckSource, Claim, check, others
from ragweave.components.computed import mark_computed
from ragweave.components.evidence import Evidence
from ragweave.components.grounds import Grounds
from ragweave.components.passages import as_seen, as_strip, headed, strip_at
from ragweave.components.run_context import RunContext
from ragweave.corpora.types import Item
from ragweave.models.errors import RagweaveError

DOWN = "The sentences of this answer are not checked: {why}"
FAILED = f"{DOWN}. To have them checked, {{remedy}}."


class _Readable(NamedTuple):
    """A source with what is needed to cite a part of it: its row, and its item if the library holds one."""

    source: CheckSource
    row: Evidence
    item: Item | None

    def quoted(self, grounds: Grounds) -> Quoted:
        """Return the words that decide as a strip of their own, and the words."""
        text = self.source.text
        words = text[grounds.start : grounds.end]
        if self.item is not None and text == self.item.text:
            strip = strip_at(self.item, grounds.start, grounds.end, self.row["query"], self.row["hop"])
            return {**strip, "title": self.row["title"]}, words
        if text == self.row.get("seen"):
            return as_seen(self.row)[0], words
        return as_strip(self.row), words


async def mark_answer(
    run: RunContext, question: str, builder: AnswerBuilder, rows: Mapping[str, Evidence]
) -> None:
    """Check the sentences of an answer that wait for their mark, all in one call.

    Args:
        run: lends the model and the library; takes notes of what was not checked.
        question: what was asked.
        builder: holds the answer, and shows the marks.
        rows: evidence of the turn, by id.
    """
    await mark_computed(run, builder, rows)
    waiting = [n for n, s in enumerate(builder.sentences, 1) if s.support == "pending"]
    if not waiting:
        return
    readable = await _readable(run, builder, rows)
    checked = await _checked(run, question, builder, readable)
    if checked.void:
        run.note(checked.void)
    for n in waiting:
        mark = checked.marks[n - 1]
        if mark.support == "model":
            builder.disown(n)
            continue
        rests = [readable[g.passage - 1].quoted(g) for g in mark.rests]
        against = [readable[g.passage - 1].quoted(g) for g in mark.against]
        builder.remark(n, mark.support, rests, against, mark.why)


async def _checked(
    run: RunContext, question: str, builder: AnswerBuilder, readable: Sequence[_Readable]
) -> CheckedAnswer:
    """Return the marks of all sentences; not checked if the model fails its exam, or cannot be reached."""
    said = _statements(builder, readable)
    try:
        result = await exam.passed(run)
        if not result.passed:
            void = FAILED.format(why=result.words, remedy=exam.REMEDY)
            return CheckedAnswer([NOT_CHECKED] * len(said), void)
        return await check(run, question, said, [r.source for r in readable])
    except RagweaveError as error:
        return CheckedAnswer([NOT_CHECKED] * len(said), DOWN.format(why=error))


def _statements(builder: AnswerBuilder, readable: Sequence[_Readable]) -> list[Claim]:
    numbers: dict[str, list[int]] = {}
    for n, r in enumerate(readable, 1):
        numbers.setdefault(r.row["id"], []).append(n)
    ids = {c.n: c.id for c in builder.citations}
    made = []
    for s in builder.sentences:
        cited = tuple(n for i in s.citations for n in numbers.get(ids[i], ()))
        made.append(Claim(s.text, cited, frame=s.support != "pending"))
    return made


async def _readable(run: RunContext, builder: AnswerBuilder, rows: Mapping[str, Evidence]) -> list[_Readable]:
    """Return what the answer may rest on: what it cites, whole, and the best others by their rank in the search."""
    known = {i: row for i, row in rows.items() if row["origin"] != "model"}
    recalled = [r for row in rows.values() if row["origin"] == "model" for r in _sources_of(row, None)]
    cited = [i for i in dict.fromkeys(c.id for c in builder.citations) if i in known]
    ranked = sorted(
        (row for i, row in known.items() if i not in cited),
        key=lambda e: (-e.get("global_score", e["relevance"]), -e["score"], e["id"]),
    )
    library = await run.library()
    items = await library.items(cited)
    own = [r for i in cited for r in _sources_of(known[i], items.get(i))]
    # What is not cited is read as the search shows it: of a long document its best window.
    rest = [r for row in ranked for r in _sources_of(row, None)]
    chosen = others([r.source for r in rest], [r.source for r in own])
    return [*own, *(r for r in rest if r.source in chosen), *recalled]


def _sources_of(row: Evidence, item: Item | None) -> list[_Readable]:
    """Return a row as what a model reads of it: its text, and what a vision model saw in it."""
    title = headed(row["title"], row)
    text = item.text if item is not None and item.text.strip() else row["text"]
    start, end = row["locator"].get("start"), row["locator"].get("end")
    span = (start, end) if start is not None and end is not None else None
    texts = [t for t in (text, row.get("seen", "")) if t.strip()]
    memory = row["origin"] == "model"
    return [_Readable(CheckSource(row["id"], title, t, row["date"], span, memory), row, item) for t in texts]
