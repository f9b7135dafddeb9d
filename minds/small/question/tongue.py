"""Say that what was found is in another language than the question: without a multilingual encoder, words do not meet.

Names, numbers and words of one spelling still do, so that the right file may be found and not be understood.
"""

from __future__ import annotations

from itertools import chain

from ragweave.corpora.meta import NAMES
from ragweave.corpora.store.library import NOWHERE
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, reads
from ragweave.minds.evidence import Evidence
from ragweave.minds.page import Page
from ragweave.minds.phrases import language_of, phrase
from ragweave.minds.small.question.lexicon import TAUGHT, asked_abroad, translated
from ragweave.minds.small.question.likes import likes, reworded
from ragweave.models.text import content_terms, fold, names, numbers, terms


async def elsewhere(desk: Desk, question: str) -> list[str]:
    """Return a question as it is searched for in other words: those that the library has, its other languages, English.

    A chat model is asked for phrasings instead of the first.
    """
    asked, held = language_of(question), await (await desk.library()).languages()
    if asked in ("en", ""):
        found = [asked_abroad(question, [code for code in held if code != "en"]) if asked else ""]
        if reads(desk.context):
            return [q for q in found if q]
        alike = likes(question)
        idf = await (await desk.library()).idf({NOWHERE, *content_terms(question), *chain(*alike.values())})
        return [q for q in (*found, reworded(question, idf, idf[NOWHERE])) if q]
    return [translated(question, asked)] if asked in TAUGHT and "en" in held else []


def native(question: str) -> str:
    """Return a question in English where it is in a language that the lexicon knows, else as it is."""
    asked = language_of(question)
    return translated(question, asked) if asked in TAUGHT else question


async def foreign(desk: Desk, brief: Brief, page: Page) -> str:
    """Tell of sources in another language: in a note beside an answer, else as a sentence for the reason of a refusal.

    Beside an answer the cited ones count; otherwise the most relevant one, and the best that shares a name or a number
    with the question.
    """
    asked = language_of(brief.question)
    rows = sorted((e for e in brief.rows.values() if e["origin"] == "library"), key=lambda e: -e["relevance"])
    if not asked or not rows:
        return ""
    tongues = {i.id: i.language for i in (await (await desk.library()).items([e["id"] for e in rows])).values()}

    named = {code: NAMES.get(code, code) for code in tongues.values()}

    def other(e: Evidence) -> bool:
        return tongues.get(e["id"], "") not in ("", asked)

    if page.sentences:
        cited = {c.id for c in page.citations}
        for e in [e for e in rows if e["id"] in cited and other(e)][:1]:
            desk.note(phrase("foreign", brief.question, title=e["title"], language=named[tongues[e["id"]]]))
        return ""
    # A year is in every file of its year.
    shared = {fold(n) for n in names(brief.question)} | {n for n in numbers(brief.question) if len(n) != 4}
    words = {t for n in shared for t in terms(n) if len(t) > 2}

    def met(e: Evidence) -> bool:
        return bool(words & set(terms(f"{e['title']} {e['text']}")))

    best = rows[0] if other(rows[0]) else None
    if best is None and not met(rows[0]):
        best = next((e for e in rows if other(e) and met(e)), None)
    if best is None:
        return ""
    return phrase("foreign", brief.question, title=best["title"], language=named[tongues[best["id"]]])
