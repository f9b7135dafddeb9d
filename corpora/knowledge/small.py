"""Entities without a model: proper names and key phrases, joined where they stand in one clip."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import combinations

from ragweave.corpora.knowledge.facts import Entity, Facts, Relation, facts_of, key_of
from ragweave.corpora.phrases import key_phrases
from ragweave.models.text import STOP, STOP_CJK, clip, fold, names, sentences, words

PHRASES = 8
"""Key phrases of a chunk."""
PAIRS = 60
"""Relations of a chunk: the pairs that stand together most often."""
PER_ITEM = 12
"""Entities of one item that are joined with each other."""
_SHORTENED = re.compile(r"['’](?:m|ve|ll|d|re|s|t)\b", re.I)
"""Contractions: “I'm” is no name, “that's it” no phrase."""
_SPEAKER = re.compile(r"^([A-Z][\w.’'-]+(?: [A-Z][\w.’'-]+){0,2}):", re.M)


def extract(texts: Mapping[str, str]) -> Facts:
    """Return the entities and relations of one chunk."""
    whole = "\n".join(texts.values())
    phrases = {p: "phrase" for p in key_phrases(whole, PHRASES) if len(p) > 2 and not _SHORTENED.search(p)}
    found = {n: "name" for n in names(whole) if _is_name(n, whole)}
    speakers = dict.fromkeys(_SPEAKER.findall(whole), "person")
    kinds = {**phrases, **found, **speakers}
    where: dict[str, dict[str, int]] = {}
    for item, text in texts.items():
        folded = f" {' '.join(words(text))} "
        for name in kinds:
            count = folded.count(f" {' '.join(words(name))} ")
            if count:
                where.setdefault(name, {})[item] = count
    entities = [
        Entity(name, "" if kinds[name] == "name" else kinds[name], _said(name, texts, at), tuple(at.items()))
        for name, at in where.items()
    ]
    return facts_of(entities, _together(where))


def _is_name(name: str, text: str) -> bool:
    """Tell a name from a word that only opens a sentence: it stands inside one too, or has several words or a digit."""
    plain = fold(name)
    if len(name) < 2 or len(name.split()) > 5 or plain in STOP or plain in STOP_CJK or _SHORTENED.search(name):
        return False
    if " " in name or any(c.isdigit() for c in name) or name[1:] != name[1:].lower() or not name.isascii():
        return True
    return bool(re.search(rf"(?<=[\w,;] ){re.escape(name)}(?!\w)", text))


def _said(name: str, texts: Mapping[str, str], at: Mapping[str, int]) -> str:
    """Return the first sentence that speaks of an entity; one that it only opens as the speaker does not."""
    key = f" {' '.join(words(name))} "
    for item in at:
        for a, b in sentences(texts[item]):
            said = " ".join(texts[item][a:b].split())
            if key in f" {' '.join(words(said.removeprefix(f'{name}:')))} ":
                return clip(said, 300)
    return ""


def _together(where: Mapping[str, Mapping[str, int]]) -> list[Relation]:
    """Return the pairs that stand in one item, weighted by how often."""
    by_item: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name, at in where.items():
        for item, count in at.items():
            by_item[item].append((count, name))
    pairs: Counter[tuple[str, str]] = Counter()
    for held in by_item.values():
        best = [name for _, name in sorted(held, key=lambda r: (-r[0], r[1]))[:PER_ITEM]]
        for one, other in combinations(sorted(best), 2):
            if key_of(one) != key_of(other):
                pairs[one, other] += 1
    kept = sorted(pairs.items(), key=lambda r: (-r[1], r[0]))[:PAIRS]
    return [Relation(one, other, "", float(n)) for (one, other), n in kept]
