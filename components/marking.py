"""Check the sentences of an answer, and give each its mark and the citations that decide it."""

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
    """A source with its evidence row, and with its item if the library has one."""

    source: CheckSource
    row: Evidence
    item: Item | None

    def quoted(self, grounds: Grounds) -> Quoted:
        """Return the words that decide, with a strip that holds them."""
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
    """Check all pending sentences of an answer in one call, and show their marks.

    Args:
        run: provides the model and the library, and takes notes about what was not checked.
        question: the question.
        builder: holds the answer and shows the marks.
        rows: evidence of the turn, by id.
    """
    await mark_computed(run, builder, rows)
    pending = [n for n, sentence in enumerate(builder.sentences, 1) if sentence.support == "pending"]
    if not pending:
        return
    readable = await _readable(run, builder, rows)
    checked = await _checked(run, question, builder, readable)
    if checked.void:
        run.note(checked.void)
    for n in pending:
        mark = checked.marks[n - 1]
        if mark.support == "model":
            builder.disown(n)
            continue
        rests = _quotes(readable, mark.rests)
        against = _quotes(readable, mark.against)
        builder.remark(n, mark.support, rests, against, mark.why)


def _quotes(readable: Sequence[_Readable], grounds: Sequence[Grounds]) -> list[Quoted]:
    """Return the quoted words of grounds."""
    return [readable[found.passage - 1].quoted(found) for found in grounds]


async def _checked(
    run: RunContext, question: str, builder: AnswerBuilder, readable: Sequence[_Readable]
) -> CheckedAnswer:
    """Return the marks of all sentences; none is checked if the model fails its exam or does not answer."""
    claims = _claims(builder, readable)
    try:
        result = await exam.passed(run)
        if not result.passed:
            void = FAILED.format(why=result.words, remedy=exam.REMEDY)
            return CheckedAnswer([NOT_CHECKED] * len(claims), void)
        return await check(run, question, claims, _sources(readable))
    except RagweaveError as error:
        return CheckedAnswer([NOT_CHECKED] * len(claims), DOWN.format(why=error))


def _claims(builder: AnswerBuilder, readable: Sequence[_Readable]) -> list[Claim]:
    """Return the sentences of an answer with the numbers of the sources that they cite."""
    numbers: dict[str, list[int]] = {}
    for number, part in enumerate(readable, 1):
        numbers.setdefault(part.row["id"], []).append(number)
    ids = {citation.n: citation.id for citation in builder.citations}
    claims = []
    for sentence in builder.sentences:
        cited: list[int] = []
        for citation in sentence.citations:
            cited += numbers.get(ids[citation], [])
        claims.append(Claim(sentence.text, tuple(cited), frame=sentence.support != "pending"))
    return claims


async def _readable(run: RunContext, builder: AnswerBuilder, rows: Mapping[str, Evidence]) -> list[_Readable]:
    """Return the sources to check against: cited items as a whole, the best others, and recalled text."""
    cited = _cited_ids(builder, rows)
    items = await (await run.library()).items(cited)
    own: list[_Readable] = []
    for evidence_id in cited:
        own += _sources_of(rows[evidence_id], items.get(evidence_id))
    recalled: list[_Readable] = []
    uncited: list[Evidence] = []
    for evidence_id, row in rows.items():
        if row["origin"] == "model":
            recalled += _sources_of(row, None)
        elif evidence_id not in cited:
            uncited.append(row)
    # Of a long document that is not cited, only the window that the search found is read.
    rest: list[_Readable] = []
    for row in sorted(uncited, key=_rank):
        rest += _sources_of(row, None)
    chosen = others(_sources(rest), _sources(own))
    best = [part for part in rest if part.source in chosen]
    return [*own, *best, *recalled]


def _sources(readable: Sequence[_Readable]) -> list[CheckSource]:
    """Return what a model reads of each source."""
    return [part.source for part in readable]


def _cited_ids(builder: AnswerBuilder, rows: Mapping[str, Evidence]) -> list[str]:
    """Return the ids of the cited evidence in the order of citation, without recalled text."""
    ids: list[str] = []
    for citation in builder.citations:
        row = rows.get(citation.id)
        if row is not None and row["origin"] != "model" and citation.id not in ids:
            ids.append(citation.id)
    return ids


def _rank(row: Evidence) -> tuple[float, float, str]:
    """Return the sort key that puts the best evidence first."""
    return (-row.get("global_score", row["relevance"]), -row["score"], row["id"])


def _sources_of(row: Evidence, item: Item | None) -> list[_Readable]:
    """Return the sources of a row: its text, and what a vision model saw in it."""
    title = headed(row["title"], row)
    text = item.text if item is not None and item.text.strip() else row["text"]
    start, end = row["locator"].get("start"), row["locator"].get("end")
    span = (start, end) if start is not None and end is not None else None
    recalled = row["origin"] == "model"
    sources = []
    for written in (text, row.get("seen", "")):
        if written.strip():
            source = CheckSource(row["id"], title, written, row["date"], span, recalled)
            sources.append(_Readable(source, row, item))
    return sources
