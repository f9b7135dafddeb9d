"""The small mind between two hops: how what was found stands, whether it is enough, which name to ask for next.

Asking on is easy, keeping what comes back is hard: read against the first question alone, an item of a later hop looks
like noise. It therefore also earns a share of the standing of the item that led to it (hop rank). docs/iteration.md
has the figures.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragweave.corpora.store.library import Library
from ragweave.minds.evidence import Evidence, Hop
from ragweave.minds.passages import idf_of
from ragweave.models import relevance
from ragweave.models.relevance import Passage
from ragweave.models.text import content_terms, fold, names, sentences, terms, words

COVERED = 0.5
"""Share of the question's words, by rarity, that the best item must hold to be the answer, if it also stands apart."""
APART = 1.5
"""Lead of the best item over the next one, in the relevance head's order, that counts as standing apart."""
CLEAR = 0.75
"""Share of the question's words that is enough by itself."""
NEARLY = 0.6
"""Share that the best items together must hold after a further hop, for a question without a relative clause."""
JOINTLY = 0.85
"""The same for a question with one."""
TOGETHER = 3
"""Best items that are read together."""
WHOLE = 0.9
"""Share that a question with a relative clause needs: the clause speaks of something the question does not name."""
_CLAUSE = re.compile(r"(?<=\s)(?:that|which|who|whom|whose|where)\b", re.I)
_OPENING = 3
"""Words in which a question word only opens the question (“in which year”)."""
LINK = 0.8
"""Share of its standing that an item passes to an item whose title it names."""
LINKING = 3
"""Best items that pass it on."""
_BRACKETS = re.compile(r"\s*[(（][^)）]*[)）]")
_SHORTEST_TITLE = 5
"""Characters of a title, with the blanks around it, that must be exceeded: shorter ones turn up anywhere."""
NAMES = 6
"""Names that one query may ask for."""


@dataclass(frozen=True)
class Standing:
    """How the items found so far stand with the question.

    Attributes:
        value: standing by evidence id; the best item by itself has 1, and hop rank may add to that.
        gap: lead of the best item over the next one, in the order of the relevance head.
    """

    value: Mapping[str, float]
    gap: float

    def ordered(self, rows: Iterable[Evidence]) -> list[Evidence]:
        """Return rows, best first."""
        return sorted(rows, key=lambda e: (-self.value.get(e["id"], 0.0), e["id"]))


@dataclass(frozen=True)
class Lead:
    """The next query of the small mind.

    Attributes:
        evidence: id of the item that it was made from.
        query: names that the item holds and the question lacks, then the question's words that the item lacks.
    """

    evidence: str
    query: str


async def stand(
    library: Library, question: str, rows: Sequence[Evidence], hops: Sequence[Hop], weight: float
) -> Standing:
    """Score everything found against the question, and add hop rank.

    Args:
        library: knows how rare words are.
        question: question of the turn.
        rows: evidence of all hops.
        hops: the rounds so far, in order.
        weight: weight of hop rank beside the relevance to the question.
    """
    if not rows:
        return Standing({}, 0.0)
    passages = [Passage(e["title"], e["text"]) for e in rows]
    idf = await idf_of(library, question, passages)
    order = (await asyncio.to_thread(relevance.score, question, passages, idf)).order
    own = {e["id"]: float(o) for e, o in zip(rows, order, strict=True)}
    best = sorted(own.values(), reverse=True)
    gap = best[0] - best[1] if len(best) > 1 else float("inf")
    fetched = [(before["lead"], after["evidence"]) for before, after in pairwise(hops)]
    return Standing(hop_rank(spread(own), fetched, links(question, rows), weight), gap)


def spread(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores to [0, 1]; all 1 where they do not differ."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {i: (s - low) / (high - low) if high > low else 1.0 for i, s in scores.items()}


def hop_rank(
    own: Mapping[str, float],
    fetched: Sequence[tuple[str, Sequence[str]]],
    named: Mapping[str, Collection[str]],
    weight: float,
) -> dict[str, float]:
    """Add to each item a share of the standing of what led to it.

    A query leads to what it fetched: the share is the reciprocal rank. The best items lead to the items whose titles
    they name: the share is LINK. The best share counts.

    Args:
        own: standing by itself in [0, 1], by item.
        fetched: (item that led to the query, items that it fetched, best first), in the order of the hops; an empty
            lead counts as 1.
        named: items that an item names, by item.
        weight: weight of what is added.
    """
    total = dict(own)
    earned: dict[str, float] = {}

    def earn(item: str, share: float) -> None:
        if item in own and share > earned.get(item, 0.0):
            earned[item] = share
            total[item] = own[item] + weight * share

    for lead, items in fetched:
        worth = min(total.get(lead, 0.0), 1.0) if lead else 1.0
        for rank, item in enumerate((i for i in items if i != lead), 1):
            earn(item, worth / rank)
    for lead in sorted(total, key=lambda i: (-total[i], i))[:LINKING]:
        for item in named.get(lead, ()):
            earn(item, min(total[lead], 1.0) * LINK)
    return total


def links(question: str, rows: Sequence[Evidence]) -> dict[str, set[str]]:
    """Return, by item, the other items whose titles its text names and the question does not."""
    titles = {e["id"]: flat(_BRACKETS.sub("", e["title"])) for e in rows}
    said = flat(question)
    able = {i: t for i, t in titles.items() if len(t) > _SHORTEST_TITLE and t not in said}
    found: dict[str, set[str]] = {}
    for e in rows:
        text = flat(e["text"])
        found[e["id"]] = {i for i, t in able.items() if t in text and t != titles[e["id"]]}
    return found


@dataclass(frozen=True)
class Chain:
    """How the items of a turn hang together.

    Attributes:
        led: items that a further query was made from: they lead on, and the end of the chain is elsewhere.
        named: items that one of the best items names and the question does not.
        open: terms of the question that no item of `led` holds; empty where none led on.
    """

    led: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    open: tuple[str, ...] = ()


def chain(question: str, rows: Sequence[Evidence], hops: Sequence[Hop]) -> Chain:
    """Read the chain off the evidence, which has its standing, and the rounds of a turn."""
    found = {e["id"]: e for e in rows}
    led = [found[h["lead"]] for h in hops if h["lead"] in found]
    have = {t for e in led for t in terms(f"{e['title']} {e['text']}")}
    best = sorted((e for e in rows if "standing" in e), key=lambda e: (-e["standing"], e["id"]))[:LINKING]
    named = links(question, rows) if best else {}
    return Chain(
        frozenset(e["id"] for e in led),
        frozenset(i for e in best for i in named[e["id"]]),
        tuple(t for t in content_terms(question) if t not in have) if led else (),
    )


def flat(text: str) -> str:
    """Return the words of a text so that a phrase can be looked up between word ends."""
    return f" {' '.join(words(text))} "


def coverage(wanted: Iterable[str], have: Iterable[str], idf: Mapping[str, float]) -> float:
    """Return the share of the wanted terms, weighted by rarity, that is there; 0 where nothing is wanted."""
    weights = {t: idf.get(t, 1.0) for t in wanted}
    held, total = set(have), sum(weights.values())
    return sum(w for t, w in weights.items() if t in held) / total if total else 0.0


def enough(question: str, ordered: Sequence[Evidence], gap: float, idf: Mapping[str, float], searched: int = 1) -> bool:
    """Tell whether what was found looks like the answer.

    The best item by itself is enough where it covers the question, or half of it and stands apart from the others.
    After a second hop it is enough that the three best cover it together.

    Args:
        question: question of the turn.
        ordered: evidence, best first; at least one row.
        gap: lead of the best item over the next one.
        idf: weight of the question's terms.
        searched: rounds of retrieval so far.
    """
    wanted, clause = content_terms(question), has_clause(question)
    held = [set(terms(f"{e['title']} {e['text']}")) for e in ordered[:TOGETHER]]
    if searched > 1 and coverage(wanted, set().union(*held), idf) >= (JOINTLY if clause else NEARLY):
        return True
    share = coverage(wanted, held[0], idf)
    return share >= WHOLE if clause else share >= CLEAR or (share >= COVERED and gap >= APART)


def has_clause(question: str) -> bool:
    """Tell whether an English question describes something by a relative clause instead of naming it."""
    return any(len(question[: m.start()].split()) >= _OPENING for m in _CLAUSE.finditer(question))


def open_words(question: str, texts: Iterable[str]) -> list[str]:
    """Return the question's words that carry content and occur in none of the texts."""
    have = {t for text in texts for t in terms(text)}
    found = [w.strip("?,.!;:？\"'“”()") for w in question.split() if (t := content_terms(w)) and not set(t) & have]
    return [w for w in found if w]


def lead(question: str, ordered: Sequence[Evidence], used: Iterable[str], idf: Mapping[str, float]) -> Lead | None:
    """Make the next query from the best item that none was made from yet and that names something new.

    Args:
        question: question of the turn.
        ordered: evidence, best first; what its text says was kept.
        used: ids of items that led to a query before.
        idf: weight of the question's terms.
    """
    taken = set(used)
    said = fold(question)
    for row in ordered:
        if row["id"] in taken:
            continue
        fresh = next(filter(None, (_new(t, said) for t in (_best_sentence(question, row, idf), row["text"]))), [])
        if fresh:
            missing = open_words(question, [f"{row['title']} {row['text']}"])
            return Lead(row["id"], " ".join([*fresh[:NAMES], *missing]))
    return None


def _new(text: str, said: str) -> list[str]:
    return [n for n in names(text) if len(n) > 2 and fold(n) not in said]


def _best_sentence(question: str, row: Evidence, idf: Mapping[str, float]) -> str:
    wanted = content_terms(question)
    cut = [row["text"][a:b] for a, b in sentences(row["text"])]
    return max(cut, key=lambda s: coverage(wanted, terms(f"{row['title']} {s}"), idf), default="")
