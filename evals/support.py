"""Figures of the small sentence check: `python -m ragweave.evals.support --data DIR`.

Supported: the support sentences of HotpotQA as they stand, and paraphrases made by rule. Unsupported: copies of both
with one number, date, name or negation changed, and the sentences themselves beside the question's distractors.
Evidence otherwise: the two gold passages of the question. The seed is fixed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.evals.evaluator import auc, rounded
from ragweave.evals.evaluator_data import Asked, hotpot
from ragweave.minds.known import Checked
from ragweave.minds.small.check import support
from ragweave.minds.small.facts import facts
from ragweave.models import text
from ragweave.models.relevance import Passage

SEED = 11

_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_REWORDED = (
    (r"\bwas born (?:in|on)\b", "came into the world in"),
    (r"\b(?:also|better|best) known as\b", "often called"),
    (r"\b(?:is|was) located in\b", "can be found in"),
    (r"\bdirected by\b", "made under the direction of"),
    (r"\bwritten by\b", "from the pen of"),
    (r"\breleased\b", "brought out"),
    (r"\bfounded\b", "set up"),
    (r"\bestablished\b", "set up"),
    (r"\bis (an?)\b", r"can be described as \1"),
    (r"\bwas (an?)\b", r"could be described as \1"),
    (r"\bbecause\b", "since"),
    (r"\bfilm\b", "movie"),
    (r"\bbased on\b", "taken from"),
    (r"\bconsists of\b", "is made up of"),
    (r"\bincluding\b", "among them"),
    (r"\bmore than\b", "over"),
)
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
_AUXILIARY = re.compile(r"\b(is|was|were|are|has been|had been|can|could|will|would|did)\b(?! not)")


@dataclass(frozen=True)
class Case:
    """One sentence to check.

    Attributes:
        kind: how it was made.
        sentence: what is checked.
        evidence: the passages it is checked against.
        question: the question it answers.
        good: whether the evidence says it.
    """

    kind: str
    sentence: str
    evidence: tuple[Passage, ...]
    question: str
    good: bool


def moved(sentence: str, title: str) -> str:
    """Bring an opening clause to the end, or a closing “in”, “on” or “at” phrase to the front."""
    m = re.match(r"((?:In|On|At|During|After|Before|Since|From) [^,]{3,60}), (.{15,})\.$", sentence)
    if m:
        return f"{m[2][0].upper()}{m[2][1:]} {m[1][0].lower()}{m[1][1:]}."
    m = re.match(r"([^,]{15,}) ((?:in|on|at|during|after|since) [^,]{3,60})\.$", sentence)
    if m:
        return f"{m[2][0].upper()}{m[2][1:]}, {m[1]}."
    return sentence


def pruned(sentence: str, title: str) -> str:
    """Leave out what stands in brackets."""
    return re.sub(r"\s*\([^()]*\)", "", sentence)


def reworded(sentence: str, title: str) -> str:
    """Replace stock phrases."""
    for pattern, other in _REWORDED:
        sentence = re.sub(pattern, other, sentence)
    return sentence


def named(sentence: str, title: str) -> str:
    """Put the title in the place of an opening pronoun."""
    return re.sub(r"^(?:He|She|It|They)\b", title.split(" (")[0], sentence)


def rewritten(sentence: str, title: str) -> str:
    """Write dates the other way round, small numbers in words, thousands without a comma."""
    sentence = re.sub(rf"\b({_MONTH}) (\d{{1,2}}), (\d{{4}})\b", r"\2 \1 \3", sentence)
    sentence = re.sub(r"(?<=\d),(?=\d{3}\b)", "", sentence)
    return re.sub(r"(?<![\w.,-])([2-9]|1[0-2])(?= [a-z])", lambda m: _SMALL[int(m[1])], sentence)


PARAPHRASES: tuple[Callable[[str, str], str], ...] = (pruned, reworded, named, rewritten, moved)


def paraphrase(sentence: str, title: str) -> str:
    """Apply every rule that fits."""
    for rule in PARAPHRASES:
        sentence = rule(sentence, title)
    return sentence


def swapped_number(sentence: str, evidence: str, rng: random.Random) -> str:
    """Replace a number that is no year by one that the evidence does not hold."""
    held = {f.value for f in facts(evidence)}
    free = [n for n in range(2, 400) if str(n) not in held]
    found = list(re.finditer(r"(?<![\w.,/-])\d{1,3}(?:,\d{3})*(?![\w.,/-]*\d)", sentence))
    return _replace(sentence, found, lambda m: str(rng.choice(free)), rng)


def swapped_date(sentence: str, evidence: str, rng: random.Random) -> str:
    """Replace a year or a month by one that the evidence does not hold."""
    held = {f.value for f in facts(evidence)}
    years = [y for y in range(1850, 2016) if str(y) not in held]
    months = [m for i, m in enumerate(_MONTH.split("|"), start=1) if f"month {i}" not in held]
    found = list(re.finditer(rf"\b(?:1[5-9]\d\d|20[01]\d)\b|\b(?:{_MONTH})(?= \d)|(?<=\d )(?:{_MONTH})\b", sentence))
    return _replace(sentence, found, lambda m: str(rng.choice(years if m[0][0].isdigit() else months)), rng)


def swapped_name(sentence: str, others: Sequence[str], rng: random.Random) -> str:
    """Replace a name by one of `others`."""
    found = [m for n in text.names(sentence) for m in re.finditer(rf"\b{re.escape(n)}\b", sentence) if len(n) > 3]
    return _replace(sentence, found, lambda m: rng.choice(others), rng) if others else sentence


def proper(passage: str) -> list[str]:
    """Return the names of a passage that are plain capitalised words."""
    return [n for n in text.names(passage) if re.fullmatch(r"[A-Z][\w'’. -]{3,}", n)]


def flipped(sentence: str) -> str:
    """Take a negation away, or put “not” after the first auxiliary verb."""
    without = re.sub(r"\b(is|was|were|are|did|does|do|could|can|has|had|have) not\b", r"\1", sentence, count=1)
    return without if without != sentence else _AUXILIARY.sub(r"\1 not", sentence, count=1)


def _replace(
    sentence: str, found: Sequence[re.Match[str]], other: Callable[[re.Match[str]], str], rng: random.Random
) -> str:
    if not found:
        return sentence
    m = rng.choice(list(found))
    return sentence[: m.start()] + other(m) + sentence[m.end() :]


def cases(asked: Sequence[Asked], seed: int = SEED) -> list[Case]:
    """Return supported sentences, their paraphrases and the spoilt copies of both."""
    rng = random.Random(seed)
    made: list[Case] = []
    for a in asked:
        gold = [int(i) for i in np.flatnonzero(a.labels == 1)]
        evidence = tuple(a.passages[i] for i in gold)
        flat = " ".join(f"{p.title}. {p.text}" for p in evidence)
        distractors = tuple(p for p, label in zip(a.passages, a.labels, strict=True) if not label)
        held = set(text.terms(flat))
        others = [n for p in distractors for n in proper(p.text) if not held & set(text.content_terms(n))]
        inside = proper(flat)
        for i in gold:
            title = a.passages[i].title
            for s in a.support[i]:
                if s >= len(a.sentences[i]):
                    continue
                source = a.sentences[i][s].strip()
                other = paraphrase(source, title)
                for origin, sentence in (("copy", source), ("paraphrase", other)):
                    if origin == "paraphrase" and other == source:
                        continue
                    made.append(Case(origin, sentence, evidence, a.question, True))
                    made.append(Case("other evidence", sentence, distractors, a.question, False))
                    here = [n for n in inside if n not in sentence]
                    spoilt = {
                        "number": swapped_number(sentence, flat, rng),
                        "date": swapped_date(sentence, flat, rng),
                        "name": swapped_name(sentence, others, rng),
                        "negation": flipped(sentence),
                        "name of the same evidence": swapped_name(sentence, here, rng),
                    }
                    made.extend(
                        Case(kind, wrong, evidence, a.question, False)
                        for kind, wrong in spoilt.items()
                        if wrong != sentence
                    )
    return made


def judged(made: Sequence[Case]) -> list[Checked]:
    """Return the verdict on each case."""
    return [support(c.sentence, c.evidence, c.question) for c in made]


def measure(data: Path) -> dict[str, Any]:
    """Return for each kind its count, the share that passes, and the AUC against everything supported."""
    made = cases(hotpot(data))
    verdicts = judged(made)
    score = {
        kind: np.array([v.score for c, v in zip(made, verdicts, strict=True) if c.kind == kind]) for kind in kinds(made)
    }
    good = np.concatenate([score["copy"], score["paraphrase"]])
    out: dict[str, Any] = {}
    for kind, values in score.items():
        passed = [v.supported for c, v in zip(made, verdicts, strict=True) if c.kind == kind]
        out[kind] = {"n": len(values), "passes": float(np.mean(passed))}
        if kind not in ("copy", "paraphrase"):
            for name, base in (("auc", good), ("auc_against_paraphrases", score["paraphrase"])):
                labels = np.concatenate([np.ones(len(base), np.int64), np.zeros(len(values), np.int64)])
                out[kind][name] = auc(labels, np.concatenate([base, values]))
    return out


def kinds(made: Sequence[Case]) -> list[str]:
    """Return the kinds of cases in order of appearance."""
    return list(dict.fromkeys(c.kind for c in made))


def main() -> None:
    """Print the figures as JSON."""
    import typer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    typer.echo(json.dumps(rounded(measure(parser.parse_args().data)), indent=2))


if __name__ == "__main__":
    main()
