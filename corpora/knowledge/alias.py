"""Other names of one entity: the acronym of its capitals, and the alias that stands in parentheses after it.

VideoRAG's own example is “ViT” and “Vision Transformer” (section 3.1). A stated rule, not a model: whoever
asks by one name is led to the other as well, while the graph keeps each as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ragweave.corpora.knowledge.facts import clean, key_of, normal

Known = tuple[str, str, str]
"""(key, name, type) of an entity; the type may be empty."""

_SHORT = re.compile(r"(?=(?:[^A-Z]*[A-Z]){2})[A-Za-z][A-Za-z.]{1,9}")
"""A word with two capitals."""
_LINKS = frozenset("a an and at by de der des for from in la le of on the to und van von with".split())
"""Words of a name that an acronym may pass over."""
_ALIAS = re.compile(r"(.+?)\s*\(([^()]+)\)?")
"""A name with its alias; what cleans names takes the last parenthesis away."""


def forms(name: str) -> tuple[str, ...]:
    """Return the names that a name holds: itself, or the name and the alias in parentheses after it."""
    found = _ALIAS.fullmatch(name.strip())
    return (clean(found[1]), clean(found[2])) if found else (clean(name),)


def shortens(short: str, name: str) -> bool:
    """Tell whether a word is the acronym of a name: its capitals open the name's words, and only links are left out.

    >>> shortens("ViT", "Vision Transformer"), shortens("VT", "Vision Encoder Transformer")
    (True, False)
    """
    if short[:1].lower() != name.lower().removeprefix("the ")[:1] or not _SHORT.fullmatch(short):
        return False
    plain = short.replace(".", "")
    if plain.endswith("s") and plain[:-1].isupper():
        plain = plain[:-1]
    parts = re.findall(r"[^\W\d_]+", name.lower().removeprefix("the "))
    return len(parts) > 1 and _taken(plain, parts)


def _taken(rest: str, parts: Sequence[str]) -> bool:
    if not rest or not parts:
        return not rest and all(p in _LINKS for p in parts)
    word, link = parts[0], parts[0] in _LINKS
    if link and _taken(rest, parts[1:]):
        return True
    if not (rest[0].isupper() or link):
        return False
    for size in range(1, min(len(rest), len(word)) + 1):
        piece = rest[:size]
        if piece.lower() != word[:size] or any(c.isupper() for c in piece[1:]):
            return False
        if _taken(rest[size:], parts[1:]):
            return True
    return False


def by_rule(known: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the pairs of entities that share a name by the rule, and those that may be one.

    The latter have a short form that several names have. `known` are (key, name); an entity of several names
    stands there several times.
    """
    keys: dict[str, set[str]] = {}
    spoken: dict[str, str] = {}
    for key, name in known:
        for form in forms(name):
            keys.setdefault(normal(form), set()).add(key)
            spoken.setdefault(form, normal(form))
    sure = [pair for held in keys.values() for pair in pairwise(sorted(held))]
    unsure: list[tuple[str, str]] = []
    for short in (form for form in spoken if _SHORT.fullmatch(form)):
        full = {form for spelt, form in spoken.items() if shortens(short, spelt)} - {spoken[short]}
        found = [(one, other) for form in full for one in keys[spoken[short]] for other in keys[form] - {one}]
        (sure if len(full) == 1 else unsure).extend(sorted(found))
    return sure, unsure


def others(text: str, grams: Iterable[str], known: Sequence[Known]) -> set[str]:
    """Return the keys of entities that a text names by another name than their own.

    Where a short form may stand for several names, or for something of another type, it stands for none of
    them.

    Args:
        text: as it was written: capitals count.
        grams: its runs of words.
        known: all entities.
    """
    runs = [*grams]
    said = {normal(run) for run in runs}
    out = {key for key, name, _ in known if "(" in name and {normal(f) for f in forms(name)} & said}
    shorts = {*_SHORT.findall(text)}
    shorts |= {
        name for _, name, _ in known if _SHORT.fullmatch(name) and any(shortens(name, run) for run in runs)
    }
    for short in shorts:
        full = [row for row in known if shortens(short, row[1].partition("(")[0])]
        means = {normal(forms(name)[0]) for _, name, _ in full}
        if len(means) != 1 or not (means | {normal(short)}) & said:
            continue
        own = [row for row in known if row[0] == key_of(short)]
        types = [{kind for _, _, kind in rows if kind not in ("", "phrase")} for rows in (own, full)]
        if not all(types) or types[0] & types[1]:
            out |= {key for key, _, _ in [*own, *full]}
    return out
