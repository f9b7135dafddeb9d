"""The small mind between two hops: whether what was found is enough, and which name to ask for next."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ragweave.minds.chain import BEST
from ragweave.minds.desk import Desk, idf_of
from ragweave.minds.evidence import Evidence
from ragweave.minds.known import Decision, Known
from ragweave.minds.looks import shown_by_look
from ragweave.minds.passages import as_strip, reread
from ragweave.minds.phrases import idle_words
from ragweave.minds.recency import timeless
from ragweave.minds.small.answer.sentences import Extract, rank
from ragweave.minds.small.clauses import splits, standing, value_of
from ragweave.minds.small.question.asked import Idf, has_clause, share
from ragweave.models.relevance_features import FUNCTION_HAN
from ragweave.models.text import UNSPACED, content_terms, fold, names, sentences, terms

COVERED = 0.5
"""Share of the question's words, by rarity, that the best item must hold to be the answer, if it also stands apart."""
APART = 1.5
"""Lead of the best item over the next one, in the relevance head's order, that counts as standing apart."""
CLEAR = 0.75
"""Share of the question's words that is enough by itself."""
WHOLE = 0.9
"""The same for a question with a relative clause, which speaks of something that the question does not name."""
NEARLY, JOINTLY = 0.6, 0.85
"""Share that the best items together must hold after a further hop, without a relative clause and with one."""
SURE, NEXT = 0.75, 3
"""How sure one of the best sentences must be that a question need not be taken apart."""
DESCRIBED, OWNED, BESIDE, LIKELY = 0.36, 0.6, 0.3, 0.4
"""How sure a sentence must be that it tells what a question describes by a clause, or a person otherwise; how near the
best one another may tell it as well; and how sure an answer must be lest another is tried."""
_MOST = re.compile(r"\b(?:most|least|fewest|\w{3,}est)\b")
"""What no row tells by itself."""
NAMES = 6
"""Names that one query may ask for."""
_UNSPACED = re.compile(f"[{UNSPACED}]+")


async def reason(desk: Desk, known: Known) -> Decision:
    """Return the next query, for a name that the question lacks; none where it is enough, or nothing is named."""
    if not known.hops:
        return Decision(query=known.question)
    learnt = known.learnt()
    kept: dict[str, list[str]] = {}
    for s in known.strips:
        kept.setdefault(s["evidence"], []).append(s["text"])
    rows = [Evidence(**{**e, "text": " ".join(kept[e["id"]])}) for e in known.rows if e["id"] in kept]
    if not rows:
        if shown_by_look(known.rows):
            return Decision(learnt)
        missing = "nothing that bears on the question was found"
        if known.unsearched:
            return Decision(learnt, f"{missing} where it was looked for", known.hops[-1]["query"], again=True)
        return Decision(learnt, missing)
    question = timeless(known.question, datetime.now(UTC))
    idf = await idf_of(desk, question)
    asked = standing(known.question, known.hops)
    inner, further, sure = await _described(desk, asked, known, idf)
    if further is None and sure < LIKELY and asked != known.question:
        # Another may be what is described.
        further = (await _described(desk, known.question, known, idf))[1]
    used = [h["lead"] for h in known.hops]
    if further is not None:
        also, _ = lead(question, rows, used, idf)
        return replace(further, learnt=learnt, more=(also,) if also else ())
    if (sure >= SURE and asked != known.question) or enough(question, rows, known.gap, idf, known.hops[-1]["n"]):
        return Decision(learnt)
    # What refinement dropped may still lead on, if it is among the best.
    able = [*rows, *(e for e in known.rows[:BEST] if e["id"] not in kept)]
    query, led = lead(question, able, used, idf)
    uncovered = missing_words(question, [f"{e['title']} {e['text']}" for e in rows[:BEST]])
    missing = "not yet covered: " + ", ".join(uncovered[:6]) if uncovered else ""
    if inner and not query:
        return Decision(learnt, inner, inner)
    return Decision(learnt, missing, query, led)


async def _described(desk: Desk, asked: str, known: Known, idf: Idf) -> tuple[str, Decision | None, float]:
    """Look for what a question describes in what was found.

    Returns:
        The question for it where it is not told, else the question with it in its place; and how sure a sentence is to
        answer the question as it is.
    """
    apart, library = splits(asked), await desk.library()

    async def best(question: str) -> list[Extract]:
        strips = [as_strip(e) for e in await reread(library, question, known.rows)]
        found = await asyncio.to_thread(rank, question, strips, idf, rows=not _MOST.search(question))
        return sorted(found[:NEXT], key=lambda e: -e.sure)

    if not apart and asked == known.question:
        return "", None, 0.0
    direct = await best(asked)
    whole, clause = [e for e in direct if e.sure >= SURE], has_clause(asked)
    sure = max((e.sure for e in direct), default=0.0)
    if not apart:
        return "", None, sure
    for split in apart:
        # Who tells only what is described has not answered what is asked of it.
        found, wanted = await best(split.inner), split.open
        if any(not wanted or wanted & e.covers for e in whole):
            return "", None, sure
        least = DESCRIBED if clause else OWNED if split.kind == "person" else SURE
        if not any(e.sure >= least for e in found):
            # What is described need not be called what it is: “Which boat was damaged?” “The Grebe was damaged.”
            found = await best(split.bare)
        least = max([least, *(e.sure - BESIDE for e in found)])
        for e in found if split.asks else ():
            if e.sure >= least and (value := value_of(split, e)) and not known.asked(query := split.filled(value)):
                return "", Decision(missing=f"{split.inner} {value}", query=query, lead=e.strip["evidence"]), sure
    return apart[0].inner if apart[0].asks and clause else "", None, sure


def enough(question: str, ordered: Sequence[Evidence], gap: float, idf: Idf, searched: int = 1) -> bool:
    """Tell whether what was found looks like the answer.

    The best item by itself is enough where it covers the question, or half of it and stands apart from the others.
    After a second hop it is enough that the best ones cover it together.
    """
    wanted, clause = content_terms(question), has_clause(question)
    held = [set(terms(f"{e['title']} {e['text']}")) for e in ordered[:BEST]]
    if searched > 1 and share(wanted, set[str]().union(*held), idf) >= (JOINTLY if clause else NEARLY):
        return True
    covered = share(wanted, held[0], idf)
    return covered >= WHOLE if clause else covered >= CLEAR or (covered >= COVERED and gap >= APART)


def open_words(question: str, texts: Iterable[str]) -> list[str]:
    """Return the question's words that carry content and occur in none of the texts."""
    have = {t for text in texts for t in terms(text)}
    found = [w.strip("?,.!;:？\"'“”()") for w in question.split() if (t := content_terms(w)) and not set(t) & have]
    return [w for w in found if w]


def missing_words(question: str, texts: Sequence[str]) -> list[str]:
    """Return the open words for a reader: without those that only join or ask, in the question's language.

    Of a language without spaces, the runs between its function characters that stand in no text.
    """
    runs = [r for run in _UNSPACED.findall(question) for r in FUNCTION_HAN.split(run) if len(r) > 1]
    idle = idle_words(question)
    found = [w for w in open_words(_UNSPACED.sub(" ", question), texts) if w.lower() not in idle]
    return [*found, *(r for r in runs if not any(r in text for text in texts))]


def lead(question: str, ordered: Sequence[Evidence], used: Collection[str], idf: Idf) -> tuple[str, str]:
    """Make the next query from the best item that was not used for one yet and that names something new.

    Returns:
        New names with the question's open words, and the id of the item; both empty where nothing new is named.
    """
    said, wanted = fold(question), content_terms(question)
    for row in (e for e in ordered if e["id"] not in used):
        cut = [row["text"][a:b] for a, b in sentences(row["text"])]
        best = max(cut, key=lambda s: share(wanted, set(terms(f"{row['title']} {s}")), idf), default="")
        for text in (best, row["text"]):
            fresh = [n for n in names(text) if len(n) > 2 and fold(n) not in said]
            if fresh:
                missing = open_words(question, [f"{row['title']} {row['text']}"])
                return " ".join([*fresh[:NAMES], *missing]), row["id"]
    return "", ""
