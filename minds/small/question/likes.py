"""Everyday words that stand for one another: what a question says in other words than the text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ragweave.models.text import STOP, base, content_terms, stem, terms

_ROWS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
LIGHT = frozenset(
    terms(
        "thing something anything somebody someone anybody anyone nobody everybody everyone go take get give put come"
        " may must need want these those back actually really ever one see find let bring show know think happen look"
        " try seem turn set kind sort stuff use along together here there like way early away already still always"
    )
)
"""Words that say too little to stand for others, and whose own rarity tells little."""


@lru_cache(maxsize=1)
def _rows() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return, by the first letters of a word, the phrases that it opens as lists of words, each with its row.

    Nothing is stemmed before a question needs it: that takes seconds for the whole list.
    """
    out: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for row in _ROWS.splitlines():
        if row[0] != "#":
            head, colon, rest = row.rpartition(":")
            for asked in (head if colon else row).split():
                said = tuple(asked.replace("-", "_").replace("'", "_").split("_"))
                out.setdefault(base(said[0])[:OPENS], []).append((said, rest))
    return out


@lru_cache(maxsize=4096)
def _stand_ins(row: str) -> dict[str, str]:
    """Return the stems of a row that stand for others, each with the form in which it is searched for."""
    # Of a word with a hyphen the last part stands in texts by itself as well; a phrase stands for nothing.
    stems = {terms(w)[-1]: w for w in reversed(row.split()) if "_" not in w}
    return {t: w for t, w in stems.items() if t not in LIGHT | STOP}


@lru_cache(maxsize=64)
def _found(question: str) -> dict[str, dict[str, str]]:
    """Return, by a stem of the question, the stems that stand for it, each with a form of it.

    Those of a phrase stand for each of its words, and no words of a phrase are looked up by themselves.
    """
    said, wanted, out, at = terms(question), set(content_terms(question)), dict[str, dict[str, str]](), 0
    while at < len(said):
        rows = [(n, row) for phrase, row in _rows().get(said[at][:OPENS], ()) if (n := _opens(phrase, said, at))]
        longest = max((n for n, _ in rows), default=1)
        phrase = said[at : at + longest]
        found = {t: w for n, row in rows if n == longest for t, w in _stand_ins(row).items() if t not in phrase}
        for t in wanted.intersection(phrase) if found else ():
            out[t] = {**found, **out.get(t, {})}
        at += longest
    return out


def _opens(phrase: tuple[str, ...], said: Sequence[str], at: int) -> int:
    """Return how many words of a question a listed phrase takes from a place on, or 0 where it is not there."""
    end = at + len(phrase)
    there = end <= len(said) and all(stem(w) == t for w, t in zip(phrase, said[at:end], strict=True))
    return len(phrase) if there else 0


def likes(question: str) -> dict[str, frozenset[str]]:
    """Return, by a stem of the question, the stems that stand for it; those of a phrase stand for each of its words."""
    return {t: frozenset(alike) for t, alike in _found(question).items()}


def reworded(question: str, idf: Mapping[str, float], absent: float) -> str:
    """Return a question in words that the library has for those that it lacks; "" where it lacks none of them.

    The rarity is that of its stems and of all that stand for them; `absent` that of what the library does not hold.
    """
    alike, out, found = _found(question), list[str](), False
    for w in _WORD.findall(question):
        stems = content_terms(w)
        if stems and all(idf.get(t, absent) >= absent for t in stems):
            near = {o: f for t in stems for o, f in alike.get(t, {}).items() if idf.get(o, absent) < absent}
            best = sorted(near, key=lambda o: (idf[o], o))[-MOST:]
            out += [near[o] for o in best] or [w]
            found = found or bool(best)
        else:
            out.append(w)
    return f"{' '.join(dict.fromkeys(out))}?" if found else ""


MOST, OPENS = 2, 3
"""Words that are searched for in the place of one, and first letters that a word shares with its stem."""
_WORD = re.compile(r"[\w’'-]+")
