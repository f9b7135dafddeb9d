"""Find other names of one entity: the acronym of its words, or an alias in parentheses after its name.

VideoRAG's own example is “ViT” and “Vision Transformer” (section 3.1). This is a fixed rule, no model. A
query with one name also finds the other; the graph keeps each name as it was written.
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
"""Words of a name that an acronym may leave out."""
_ALIAS = re.compile(r"(.+?)\s*\(([^()]+)\)?")
"""A name with its alias; `clean` removes a closing parenthesis at the end."""


def forms(name: str) -> tuple[str, ...]:
    """Return the names in a name: itself, or the name and the alias in parentheses after it."""
    found = _ALIAS.fullmatch(name.strip())
    if found is None:
        return (clean(name),)
    return clean(found[1]), clean(found[2])


def shortens(short: str, name: str) -> bool:
    """Return whether a word is the acronym of a name.

    Its capitals begin the words of the name, and it leaves out only short words such as "of".

    >>> shortens("ViT", "Vision Transformer"), shortens("VT", "Vision Encoder Transformer")
    (True, False)
    """
    full = name.lower().removeprefix("the ")
    if short[:1].lower() != full[:1] or not _SHORT.fullmatch(short):
        return False
    letters = short.replace(".", "")
    if letters.endswith("s") and letters[:-1].isupper():
        letters = letters[:-1]  # A plural, such as LLMs.
    parts = re.findall(r"[^\W\d_]+", full)
    return len(parts) > 1 and _spells(letters, parts)


def _spells(letters: str, parts: Sequence[str]) -> bool:
    """Return whether letters consist of the beginnings of all words, of which links may be left out."""
    if not letters:
        return _LINKS.issuperset(parts)
    if not parts:
        return False
    word = parts[0]
    is_link = word in _LINKS
    if is_link and _spells(letters, parts[1:]):
        return True
    if not letters[0].isupper() and not is_link:
        return False
    for size in range(1, min(len(letters), len(word)) + 1):
        piece = letters[:size]
        # The capital of the next word ends the beginning of this one.
        if piece.lower() != word[:size] or _has_capital(piece[1:]):
            return False
        if _spells(letters[size:], parts[1:]):
            return True
    return False


def _has_capital(text: str) -> bool:
    for character in text:
        if character.isupper():
            return True
    return False


def by_rule(known: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the pairs of entities that share a name by the rule, and the pairs that perhaps do.

    A pair is uncertain if its acronym fits several names. `known` are (key, name); an entity of several names
    occurs several times.
    """
    keys: dict[str, set[str]] = {}
    normal_of: dict[str, str] = {}
    for key, name in known:
        for form in forms(name):
            keys.setdefault(normal(form), set()).add(key)
            normal_of.setdefault(form, normal(form))
    sure: list[tuple[str, str]] = []
    for equal in keys.values():
        sure.extend(pairwise(sorted(equal)))
    unsure: list[tuple[str, str]] = []
    for short, own in normal_of.items():
        if not _SHORT.fullmatch(short):
            continue
        full = _full_names(short, normal_of)
        full.discard(own)
        pairs = []
        for name in full:
            pairs += _pairs(keys[own], keys[name])
        target = sure if len(full) == 1 else unsure
        target.extend(sorted(pairs))
    return sure, unsure


def _full_names(short: str, normal_of: dict[str, str]) -> set[str]:
    """Return the normal forms of the names that an acronym shortens."""
    full = set()
    for name, form in normal_of.items():
        if shortens(short, name):
            full.add(form)
    return full


def _pairs(these: set[str], those: set[str]) -> list[tuple[str, str]]:
    """Return all pairs of one of these and another one of those."""
    pairs = []
    for one in these:
        for other in those - {one}:
            pairs.append((one, other))
    return pairs


def others(text: str, grams: Iterable[str], known: Sequence[Known]) -> set[str]:
    """Return the keys of the entities that a text names by another name than their own.

    If an acronym fits several names, or names of another type, it counts for none of them.

    Args:
        text: as it was written: capitals count.
        grams: its runs of words.
        known: all entities.
    """
    runs = list(grams)
    said = set(map(normal, runs))
    out = set()
    shorts = set(_SHORT.findall(text))
    for key, name, _ in known:
        if "(" in name and not said.isdisjoint(map(normal, forms(name))):
            out.add(key)
        if _SHORT.fullmatch(name) and _shortens_any(name, runs):
            shorts.add(name)
    for short in shorts:
        out |= _named_by(short, said, known)
    return out


def _shortens_any(short: str, names: Iterable[str]) -> bool:
    for name in names:
        if shortens(short, name):
            return True
    return False


def _named_by(short: str, said: set[str], known: Sequence[Known]) -> set[str]:
    """Return the keys of the entities that an acronym means, if its meaning is clear.

    Args:
        short: the acronym.
        said: normal forms of the runs of words of the text.
        known: all entities.
    """
    full = []
    meanings = set()
    for row in known:
        name = row[1]
        if shortens(short, name.partition("(")[0]):
            full.append(row)
            meanings.add(normal(forms(name)[0]))
    if len(meanings) != 1:
        return set()
    if said.isdisjoint(meanings) and normal(short) not in said:
        return set()
    own_key = key_of(short)
    own = []
    for row in known:
        if row[0] == own_key:
            own.append(row)
    own_types, full_types = _types(own), _types(full)
    if own_types and full_types and own_types.isdisjoint(full_types):
        return set()
    keys = set()
    for key, _, _ in [*own, *full]:
        keys.add(key)
    return keys


def _types(rows: Iterable[Known]) -> set[str]:
    """Return the known types of entities."""
    types = set()
    for _, _, kind in rows:
        if kind not in ("", "phrase"):
            types.add(kind)
    return types
