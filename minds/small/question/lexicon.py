"""Everyday words of English with their like in German, French and Spanish, written for Ragweave.

A few hundred words stand in for the multilingual encoder that nobody has to have: what is asked for is mostly a price,
a time, a person or a thing of the house, the street or the year. Word forms are those that notes have most often.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ragweave.corpora.meta import FUNCTION_WORDS
from ragweave.models.text import content_terms, names, terms

_COLUMNS = ("en", "de", "fr", "es")
TAUGHT = _COLUMNS[1:]
"""Languages beside English, by ISO 639-1."""
_ROWS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
_ASKS = {
    "de": "um wie viel uhr=what time|wie viele=how many|wie viel=how much|wie lange=how long|wie=how|wann=when|"
    "wo=where|wer=who|was=what|welche=which|welcher=which|welches=which|welchem=which|wem=who|wen=who|ist=is|war=was|hat=|"
    "hatte=|haben=|wurde=",
    "fr": "à quelle heure=what time|combien de=how many|combien=how much|quand=when|où=where|qui=who|quel=what|"
    "quelle=what|quels=which|quelles=which|comment=how|que=what|était=was|est=is|a=|ont=|à=|en=",
    "es": "a qué hora=what time|cuántos=how many|cuántas=how many|cuánto=how much|cuánta=how much|cuándo=when|"
    "dónde=where|quién=who|qué=what|cuál=which|cómo=how|es=is|ha=|han=",
}
"""How questions open, and the English for it."""


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], dict[str, tuple[str, ...]]]:
    """Return, by a language and the stem of a word in it, its like in each of the languages, the usual one first."""
    out: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for row in _ROWS.strip().splitlines():
        columns = dict(zip(_COLUMNS, (tuple(c.split()) for c in row.split("|")), strict=True))
        for own, said in columns.items():
            for t in dict.fromkeys(t for w in said for t in terms(w)):
                held = out.setdefault((own, t), {})
                for other, theirs in columns.items():
                    held[other] = (*held.get(other, ()), *theirs)
    return out


def in_english(stems: Iterable[str], language: str) -> frozenset[str]:
    """Return the stems of the English words that stand for words of another language."""
    if language not in TAUGHT:
        return frozenset()
    return frozenset(t for s in stems for w in _table().get((language, s), {}).get("en", ()) for t in terms(w))


def asked_abroad(question: str, languages: Iterable[str]) -> str:
    """Return the words of other languages for an English question, with its names and numbers; "" for none."""
    rows = [_table().get(("en", t), {}) for t in content_terms(question)]
    found = [w for code in languages if code in TAUGHT for row in rows for w in row.get(code, ())]
    kept = [w for n in names(question) for w in n.split()] + re.findall(r"\b\d+\b", question)
    return " ".join(dict.fromkeys([*found, *kept])) if found else ""


def translated(question: str, language: str) -> str:
    """Return a question of another language word by word in English; what is not known stays, what only joins goes."""
    said = question.strip(" ?？.")
    for form, english in (row.split("=") for row in _ASKS[language].split("|")):
        said = re.sub(rf"\b{form}\b", english, said, flags=re.I)
    out: list[str] = []
    for w in re.findall(r"[\w’'-]+", said):
        rows = [_table()[language, t]["en"] for t in terms(w) if (language, t) in _table()]
        if rows or w.lower() not in FUNCTION_WORDS[language] or w.lower() in FUNCTION_WORDS["en"]:
            out.append(rows[0][0] if rows else w)
    return f"{' '.join(out)}?" if out else question
