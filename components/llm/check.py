"""A second opinion of a language model on sentences and what they rest on, in one call for the whole answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, field_validator

from ragweave.components.answer_builder import Claim
from ragweave.components.evidence import Strip, Support
from ragweave.components.knowledge import Opinion
from ragweave.components.passages import untitled
from ragweave.components.run_context import RunContext
from ragweave.corpora.hidden import addresses_machines, fenced, without_orders
from ragweave.models import tables
from ragweave.models.text import content_terms, terms
from ragweave.prompts import load, quote

_WHOLE = 600
"""Characters of a passage that is read whole."""
_TABLE = 1_500
"""Characters of a table that is read whole: a sum or a maximum rests on all rows."""
_AROUND = 400
"""Characters around what a sentence says that are read of a longer passage."""
_PLACES = 3
"""Places of a passage in which what a sentence says may stand."""
_BESIDE = 1
"""Passages that a sentence does not name, and that are read because they say what the named ones lack."""
_PLACED = 0.7
"""Share of the words that decide which must stand in the part of a passage that they are said to be from."""

Said = Literal["supported", "not stated", "contradicted"]
_SAID: dict[Said, Support] = {"supported": "verified", "not stated": "unverified", "contradicted": "contradicted"}
_WORST: tuple[Said, ...] = ("contradicted", "not stated", "supported")


class SentenceVerdict(BaseModel):
    """The verdict on one sentence, and what decides it."""

    n: int = Field(description="number of the sentence")
    passage: int = Field(0, description="number of the passage that decides, 0 if none does")
    words: str = Field("", description="the words of that passage that decide, copied")
    verdict: Said


class Opinions(BaseModel):
    """What the model is asked for: a verdict for each sentence; two where it takes two passages."""

    verdicts: list[SentenceVerdict]

    @field_validator("verdicts", mode="before")
    @classmethod
    def _readable(cls, value: Any) -> Any:
        """Leave out verdicts in other words, and read those in other letters."""
        if not isinstance(value, list):
            return value
        read = []
        for row in (r for r in value if isinstance(r, dict)):
            verdict = str(row.get("verdict", "")).replace("_", " ").strip(" .").lower()
            n, passage = (int(i) if (i := str(row.get(key, ""))).isdecimal() else 0 for key in ("n", "passage"))
            if n and verdict in get_args(Said):
                read.append({"n": n, "passage": passage, "words": str(row.get("words") or ""), "verdict": verdict})
        return read


async def check(run: RunContext, question: str, claims: Sequence[Claim]) -> list[Opinion] | None:
    """Return an opinion on each doubted claim of an answer; None where none can be read."""
    doubted = [n for n, c in enumerate(claims, 1) if c.doubted]
    shown = shown_to(question, claims)
    numbers = {s["id"]: n for n, (s, _) in enumerate(shown, 1)}
    passages = "\n\n".join(f"[{n}] " + quote(f"{s['title']}\n{fenced(text)}") for n, (s, text) in enumerate(shown, 1))
    marks = ["".join(f"[{n}]" for n in dict.fromkeys(numbers.get(s["id"], 0) for s in c.named) if n) for c in claims]
    lines = [f"{n}. {c.text} {m}".strip() for n, (c, m) in enumerate(zip(claims, marks, strict=True), 1)]
    asked = ", ".join(map(str, doubted))
    messages = load("check", question=question, answer="\n".join(lines), passages=passages or "(none)", numbers=asked)
    reply = await run.json(messages, Opinions)
    found: dict[int, list[SentenceVerdict]] = {n: [] for n in doubted}
    for verdict in reply.verdicts if reply is not None else []:
        found.get(verdict.n, []).append(verdict)
    if not any(found.values()):
        run.note("The model's second opinion could not be read; what the local check did not verify is unverified.")
        return None
    return [_opinion(claims[n - 1], verdicts, [s for s, _ in shown]) for n, verdicts in found.items()]


def _opinion(claim: Claim, verdicts: Sequence[SentenceVerdict], shown: Sequence[Strip]) -> Opinion:
    """Return what verdicts on one claim come to: the worst of them counts, with the words that decide it."""
    worst: Said = next((said for said in _WORST if any(v.verdict == said for v in verdicts)), "not stated")
    rests = []
    for v in verdicts:
        if v.verdict == worst and v.words.strip():
            named = shown[v.passage - 1 : v.passage] if v.passage > 0 else []
            places = ((s, place_of(v.words, without_orders(s["text"]))) for s in [*named, *shown])
            placed = next((place for place in places if place[1]), None)
            if placed is None and worst != "not stated":
                return Opinion("unverified")  # what no passage says decides nothing
            rests += [placed] if placed is not None and placed not in rests else []
    if worst == "not stated" or addresses_machines(claim.text):
        return Opinion("unverified")
    if worst == "contradicted" and not rests:
        return Opinion("unverified")
    return Opinion(_SAID[worst], tuple(rests))


def place_of(words: str, text: str) -> str:
    """Return the sentences or rows of a text that words are copied from, at most three; "" where they are not."""
    wanted = terms(words)
    spans = [s for s in tables.spans(text) if not tables.is_heads(text, *s)]
    said = [set(terms(tables.told(text, *s))) for s in spans]
    best, at = (_PLACED - 1e-9, 0), ""
    for n in range(len(spans)):
        for length in range(1, min(3, len(spans) - n) + 1):
            have = set[str]().union(*said[n : n + length])
            share = sum(t in have for t in wanted) / len(wanted) if wanted else 0.0
            if (share, -length) > best:
                best, at = (share, -length), text[spans[n][0] : spans[n + length - 1][1]]
    return at


def shown_to(question: str, claims: Sequence[Claim]) -> list[tuple[Strip, str]]:
    """Return the passages that a model checks doubted claims against, each with the parts of it that are read.

    They are the parts around what a claim says of the passages that it names, and of those that say more of it.
    """
    strips: dict[str, Strip] = {}
    chosen: dict[str, set[int]] = {}
    parts = _Parts()
    before = ""
    for claim in claims:
        if claim.doubted:
            # A pronoun means what the sentence before names.
            wanted = set(content_terms(claim.text))
            beside = set(content_terms(f"{question} {before}")) - wanted
            named = list({s["id"]: s for s in claim.named}.values())
            for strip in [*named, *_beside(wanted, named, claim.known, parts)]:
                strips.setdefault(strip["id"], strip)
                chosen.setdefault(strip["id"], set()).update(parts.around(strip, wanted, beside))
        before = claim.text
    return [(s, parts.told(s, chosen[i])) for i, s in strips.items() if i not in _twice(strips, chosen, parts)]


def _beside(wanted: set[str], named: Sequence[Strip], known: Iterable[Strip], parts: _Parts) -> list[Strip]:
    """Return the passages that say most of what the named ones do not say of a claim."""
    lacking = wanted - parts.terms(named)
    others = list({s["id"]: s for s in known if s["id"] not in {n["id"] for n in named}}.values())
    worth = {s["id"]: (len(lacking & (have := parts.terms([s]))), len(wanted & have)) for s in others}
    able = [s for s in others if 2 * worth[s["id"]][0] >= len(lacking) > 0]
    best = sorted(able, key=lambda s: worth[s["id"]], reverse=True)
    return best[: _BESIDE if named else _BESIDE + 2]


def _twice(strips: Mapping[str, Strip], chosen: Mapping[str, Collection[int]], parts: _Parts) -> set[str]:
    """Return the ids of passages of which another one of their file shows all that is shown."""
    told = {i: " ".join(parts.told(s, chosen[i]).split()) for i, s in strips.items()}
    file = {i: s["locator"].get("file", "") or i for i, s in strips.items()}
    return {
        i
        for n, i in enumerate(told)
        for m, j in enumerate(told)
        if i != j and file[i] == file[j] and told[i] in told[j] and (told[i] != told[j] or m < n)
    }


class _Parts:
    """Sentences and rows of passages, each passage cut once."""

    def __init__(self) -> None:
        self._cut: dict[str, tuple[str, list[tuple[int, int]], list[set[str]]]] = {}

    def _of(self, strip: Strip) -> tuple[str, list[tuple[int, int]], list[set[str]]]:
        if strip["id"] not in self._cut:
            text = untitled(strip)
            spans = tables.spans(text)
            self._cut[strip["id"]] = text, spans, [set(terms(tables.told(text, a, b))) for a, b in spans]
        return self._cut[strip["id"]]

    def terms(self, strips: Iterable[Strip]) -> set[str]:
        """Return all words of passages and of their titles."""
        return set[str]().union(*(part for s in strips for part in (set(terms(s["title"])), *self._of(s)[2])))

    def around(self, strip: Strip, wanted: set[str], beside: set[str]) -> Iterable[int]:
        """Return the numbers of the parts that are read of a passage: those around what a claim says."""
        text, spans, said = self._of(strip)
        if len(text) <= (_TABLE if any(tables.is_row(text[a:b]) for a, b in spans) else _WHOLE):
            return range(len(spans))
        chosen: set[int] = set()
        left = set(wanted)
        for _ in range(_PLACES):
            count = {t: sum(t in have for have in said) for t in left | beside}
            worth = [
                sum(1 / count[t] for t in left & have) + sum(0.3 / count[t] for t in beside & have) for have in said
            ]
            best = max(range(len(spans)), key=lambda n: worth[n], default=0)
            if not spans or not left & said[best]:
                break
            chosen |= self._grown(best, spans, said, left | beside)
            left -= set[str]().union(*(said[n] for n in chosen))
        return chosen or range(min(3, len(spans)))

    def _grown(self, best: int, spans: Sequence[tuple[int, int]], said: Sequence[set[str]], near: set[str]) -> set[int]:
        """Return a part with its neighbours, the nearer in words first, up to so many characters."""
        low = high = best
        while True:
            more = [n for n in (low - 1, high + 1) if 0 <= n < len(spans)]
            more = [n for n in more if spans[max(n, high)][1] - spans[min(n, low)][0] <= _AROUND]
            if not more:
                return set(range(low, high + 1))
            taken = max(more, key=lambda n: (len(said[n] & near), n < low))
            low, high = min(low, taken), max(high, taken)

    def told(self, strip: Strip, chosen: Collection[int]) -> str:
        """Return parts of a passage in their order, rows under their heads, a mark where something is left out."""
        text, spans, _ = self._of(strip)
        out, last = "", -1
        for n in sorted(chosen):
            a, b = spans[n]
            if n != last + 1:
                heads = tables.heads_above(text, a)
                out += ("\n" if out else "") + "[…]\n" + (f"{heads}\n" if heads else "")
            else:
                out += text[spans[last][1] : a] if last >= 0 else ""
            out += text[a:b]
            last = n
        return out + ("\n[…]" if spans and last < len(spans) - 1 else "")


async def doubt(run: RunContext, question: str, claims: Sequence[Claim]) -> list[Opinion]:
    """Leave the claims as the local check found them: nobody gives a second opinion."""
    return [Opinion(c.support) for c in claims if c.doubted]
