"""Everyday words that stand for one another: what a question says in other words than the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ragweave.models.text import STOP, content_terms, terms

_ROWS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
_LIGHT = frozenset(
    terms(
        "thing something anything somebody someone anybody anyone nobody everybody everyone go going goes take get give"
        " put come may must need want these those back actually really ever one"
    )
)
"""Words that say too little to be looked for, or to stand for others."""


@lru_cache(maxsize=1)
def _table() -> tuple[dict[tuple[str, ...], frozenset[str]], dict[str, str]]:
    """Return the stems that stand for a word or a phrase, and the form in which each is searched for."""
    alike: dict[tuple[str, ...], set[str]] = {}
    forms: dict[str, str] = {}
    for row in _ROWS.splitlines():
        if row.startswith("#"):
            continue
        head, colon, rest = row.rpartition(":")
        said = {w: tuple(terms(w.replace("_", " "))) for w in rest.split()}
        # Of a word with a hyphen the last part stands in texts by itself as well; a phrase stands for nothing.
        stems = {s[-1]: w for w, s in said.items() if "_" not in w and s[-1] not in _LIGHT | STOP}
        forms |= {t: w for t, w in stems.items() if t not in forms}
        for asked in [tuple(terms(head.replace("_", " ")))] if colon else said.values():
            alike.setdefault(asked, set()).update(stems)
    return {k: frozenset(v.difference(k)) for k, v in alike.items()}, forms


@lru_cache(maxsize=64)
def likes(question: str) -> dict[str, frozenset[str]]:
    """Return, by a stem of the question, the stems that stand for it; those of a phrase stand for each of its words."""
    table, said, out = _table()[0], terms(question), dict[str, frozenset[str]]()
    wanted = set(content_terms(question))
    for at in range(len(said)):
        for n in range(1, LONGEST + 1):
            found = table.get(tuple(said[at : at + n]), frozenset())
            for t in wanted.intersection(said[at : at + n]) if found else ():
                out[t] = out.get(t, frozenset()) | found
    return out


def reworded(question: str, idf: Mapping[str, float], absent: float) -> str:
    """Return a question in words that the library has for those that it lacks; "" where it lacks none of them.

    Args:
        question: standing by itself.
        idf: rarity in the library of its stems and of all that stand for them.
        absent: rarity of what the library does not hold.
    """
    alike, forms, out, found = likes(question), _table()[1], list[str](), False
    for w in _WORD.findall(question):
        stems = content_terms(w)
        if stems and all(idf.get(t, absent) >= absent for t in stems):
            near = {o for t in stems for o in alike.get(t, ()) if idf.get(o, absent) < absent}
            best = sorted(near, key=lambda o: (idf[o], o))[-MOST:]
            out += [forms[o] for o in best] or [w]
            found = found or bool(best)
        else:
            out.append(w)
    return f"{' '.join(dict.fromkeys(out))}?" if found else ""


LONGEST, MOST = 4, 2
"""Words of a phrase, and words that are searched for in the place of one."""
_WORD = re.compile(r"[\w’'-]+")
