"""Near misses: does the small mind tell a sentence that answers from one that nearly does?

    python -m ragweave.evals.near_misses --data DIR

Pairs of a question and evidence are made from XQuAD passages (its gold passage beside those of the same article) and
from lists under headings, as in files of one's own. A near miss lacks the sentence that answers, or the question is
turned to another subject, or to another year. The lists are among what
`benchmarks/sure.py` fits the weights of `minds/small/answer/sentences.py` on.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

from ragweave.evals.data import read_jsonl, sample
from ragweave.evals.metrics import auc, says
from ragweave.minds.evidence import Strip
from ragweave.minds.small.answer.sentences import Extract, rank
from ragweave.models import relevance
from ragweave.models.relevance import Passage
from ragweave.models.text import content_terms, names, sentences, terms


class Case(NamedTuple):
    """A question over passages; without answers it is a near miss, of the kind named."""

    question: str
    passages: tuple[Passage, ...]
    answers: tuple[str, ...]
    kind: str


_FIRST = "Ada Bruno Celia Dario Edda Falk Greta Hugo Ines Jorin Kaja Lothar Mira Nils Oda Piet Rita Sven Thea".split()
_LAST = (
    "Achterberg Brandvold Castelain Drummond Eskildsen Farrow Gundersen Hollis Ivarsson Jessop Kettering Lund".split()
)
_LABELS = (
    ("Birthday", "When is {}'s birthday?", "{d} {m}"),
    ("Born", "In which year was {} born?", "19{d2}"),
    ("Phone", "What is the phone number of {}?", "555 0{d2}{d2}"),
    ("Rate", "What is the hourly rate of {}?", "{d} euros an hour"),
    ("Allergies", "What is {} allergic to?", "{w}"),
    ("Plays", "Which instrument does {} play?", "{w}"),
    ("Weight", "How much does {} weigh?", "{d} kg"),
    ("Height", "How tall is {}?", "1.{d2} m"),
    ("Flat", "In which flat does {} live?", "{d}"),
    ("Leader", "Who leads {}?", "{n}"),
    ("Length", "How long is {}?", "{d} km"),
    ("Entry fee", "What is the entry fee of {}?", "{d} euros"),
    ("Opens", "When does {} open?", "{d1}:30"),
    ("Members", "How many members does {} have?", "{d2}"),
    ("Guarantee", "How many years of guarantee does {} give?", "{d} years"),
    ("Shoe size", "What shoe size does {} wear?", "4{d1}"),
)
_PLAIN = "likes long walks|keeps the key of the shed|came in spring|ask before you call|has a red door"
_WORDS = "walnuts cello latex viola penicillin lute shellfish oboe pollen harp".split()
_MONTHS = "January February March April June July August September October November".split()


def lists(n: int, seed: int = 7) -> Iterator[Case]:
    """Make notes with a heading for each person or thing and labels or list items under it, and questions over them."""
    rng = random.Random(seed)

    def value(form: str) -> str:
        return form.format(
            d=rng.randint(2, 28), d1=rng.randint(2, 9), d2=rng.randint(10, 99), m=rng.choice(_MONTHS),
            w=rng.choice(_WORDS), n=f"{rng.choice(_FIRST)} {rng.choice(_LAST)}",
        )  # fmt: skip

    for _ in range(n):
        who = [f"{a} {b}" for a, b in zip(rng.sample(_FIRST, 5), rng.sample(_LAST, 5), strict=True)]
        held = {w: {label: value(form) for label, _, form in rng.sample(_LABELS, 4)} for w in who}
        marks = rng.random() < 0.5
        passages = []
        for w in who:
            lines = [f"{k}: {v}" if rng.random() < 0.7 else f"{k.lower()} {v}" for k, v in held[w].items()]
            lines.append(rng.choice(_PLAIN.split("|")))
            text = "\n".join(f"- {x}" for x in lines) if marks else ". ".join(lines) + "."
            passages.append(Passage(f"Notes · {w}", text))
        has = [(w, label, ask) for w in who for label, ask, _ in _LABELS if label in held[w]]
        lacks = [(w, label, ask) for w in who for label, ask, _ in _LABELS if label not in held[w]]
        near = [x for x in lacks if any(x[1] in held[o] for o in who)]
        w, label, ask = rng.choice(has)
        yield Case(ask.format(w), tuple(passages), (held[w][label],), "list")
        w, label, ask = rng.choice(near)
        yield Case(ask.format(w), tuple(passages), (), "list: another's value")


def prose(data: Path, n: int) -> Iterator[Case]:
    """Make cases of XQuAD: a question that its passage answers, and near misses of it."""
    rng = random.Random(11)
    held = {str(p["id"]): p for p in read_jsonl(data / "squad_xquad_en/passages.jsonl")}
    article: dict[str, list[Passage]] = defaultdict(list)
    for p in held.values():
        article[str(p["title"])].append(Passage(str(p["title"]), str(p["text"])))
    others = sorted(article)
    rows = read_jsonl(data / "squad_xquad_en/queries.jsonl")
    for row in sample(rows, n):
        gold = held[str(row["gold"][0])]
        title, own = str(gold["title"]), Passage(str(gold["title"]), str(gold["text"]))
        around = [p for p in article[title] if p.text != own.text]
        far = [article[t][0] for t in rng.sample(others, 3) if t != title]
        question, answers = str(row["question"]), tuple(str(a) for a in row["answers"])
        yield Case(question, (own, *around, *far), answers, "prose")
        cut = " ".join(own.text[a:b] for a, b in sentences(own.text) if not says(own.text[a:b], answers))
        less = [Passage(title, cut), *(p for p in around if not says(p.text, answers))]
        yield Case(question, (*less, *far), (), "prose: sentence gone")
        said = [x for x in names(question) if len(x) > 3]
        if said:
            old = max(said, key=len)
            new = rng.choice([x for t in others if t != title for x in names(article[t][0].text)[:4] if len(x) > 4])
            yield Case(question.replace(old, new), (own, *around, *far), (), "prose: another subject")
        if year := re.search(r"\b1[5-9]\d\d\b|\b20[0-2]\d\b", question):
            turned = str(int(year.group()) + rng.choice((-7, -3, 4, 9)))
            yield Case(question.replace(year.group(), turned), (own, *around, *far), (), "prose: another year")


def best(case: Case, idf: Any) -> Extract | None:
    """Return the sentence that the small mind would answer a case with."""
    floors = relevance.score(case.question, list(case.passages), idf).floor
    strips: list[Strip] = [
        {"id": f"{n}#0-{len(p.text)}", "evidence": str(n), "text": p.text, "title": p.title, "locator": {},
         "origin": "library", "query": case.question, "hop": 1, "score": float(f)}
        for n, (p, f) in enumerate(zip(case.passages, floors, strict=True))
    ]  # fmt: skip
    ranked = rank(case.question, strips, idf)
    return ranked[0] if ranked else None


def judged(cases: Sequence[Case]) -> list[tuple[Case, Extract, bool]]:
    """Return cases with the sentence chosen, and whether it answers."""
    count = Counter(t for c in cases for p in c.passages for t in set(terms(p.text)))
    total = sum(len(c.passages) for c in cases)

    def idf(term: str) -> float:
        return log(1 + total / (1 + count[term]))

    out = []
    for case in cases:
        found = best(case, idf)
        if found is not None and content_terms(case.question):
            out.append((case, found, bool(case.answers) and says(found.text, case.answers)))
    return out


def main() -> None:
    """Print the AUC of each kind of near miss, and the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--limit", type=int, default=300, help="questions of XQuAD")
    given = parser.parse_args()
    test = [(c, y, e.sure) for c, e, y in judged([*prose(given.data, given.limit), *lists(given.limit // 2)])]
    for kind in sorted({c.kind for c, _, _ in test}):
        base = [p for c, y, p in test if y and c.kind == kind.split(":")[0]]
        near = [p for c, y, p in test if c.kind == kind and not y]
        sys.stdout.write(
            f"{kind:28} {len(near):5} wrong  AUC {auc([1] * len(base) + [0] * len(near), base + near):.3f}\n"
        )
    sys.stdout.write(f"all: AUC {auc([int(y) for _, y, _ in test], [p for *_, p in test]):.3f}\n")
    for at in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        able = [(y, p >= at) for c, y, p in test if c.answers]
        near = [p >= at for c, _, p in test if not c.answers]
        good, bad = sum(y and s for y, s in able) / len(able), sum(s and not y for y, s in able) / len(able)
        sys.stdout.write(
            f"{at:.1f}  answerable {good:.3f} right, {bad:.3f} wrong   near misses {sum(near) / len(near):.3f}\n"
        )


if __name__ == "__main__":
    main()
