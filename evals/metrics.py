"""Metrics of routing, answers, rankings and citations.

Every function is pure and scores 0 to 1; higher is better. scikit-learn and rouge-score compute some of them;
the tests check the others against scikit-learn and pytrec_eval.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.models.text import UNSPACED, fold, words

Values = Sequence[float] | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy of one label per row.

    `macro` is the mean over the labels that occur of the share of their rows that are right (`per_label`);
    `confusion` goes from gold label to predicted label to count.
    """

    micro: float
    macro: float
    per_label: dict[str, float]
    confusion: dict[str, dict[str, int]]


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> Accuracy:
    """Score single labels; labels that never occur in `gold` do not count for `macro`."""
    _same_length(gold, predicted)
    table: dict[str, Counter[str]] = {}
    for g, p in zip(gold, predicted, strict=True):
        table.setdefault(g, Counter())[p] += 1
    right, per_label, confusion = 0, dict[str, float](), dict[str, dict[str, int]]()
    for label, row in table.items():
        right += row[label]
        per_label[label] = row[label] / row.total()
        confusion[label] = dict(row)
    micro = right / len(gold) if gold else 0.0
    macro = sum(per_label.values()) / len(per_label) if per_label else 0.0
    return Accuracy(micro, macro, per_label, confusion)


def ece(confidence: Values, right: Values, bins: int = 15) -> float:
    """Return the expected calibration error: the mean gap of confidence and accuracy (Guo 2017).

    The bins have equal widths, and each weighs as much as it has rows.
    """
    _same_length(confidence, right)
    c, r = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    at = np.minimum((c * bins).astype(int), bins - 1)
    total = 0.0
    for b in np.unique(at):
        inside = at == b
        total += inside.mean() * abs(c[inside].mean() - r[inside].mean())
    return float(total)


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + "“”‘’«»„。，、；：？！（）「」《》…–—", " "))


def normalise(answer: str) -> str:
    """Lower-case, drop punctuation and English articles, squeeze white space (as SQuAD, for any script)."""
    return " ".join(_ARTICLES.sub(" ", answer.casefold().translate(_PUNCTUATION)).split())


def exact_match(answer: str, golds: Sequence[str]) -> float:
    """Return 1 if the answer equals one of the gold answers after normalisation."""
    return float(normalise(answer) in map(normalise, golds))


def token_f1(answer: str, golds: Sequence[str]) -> float:
    """Return the best token F1 over the gold answers; scripts without spaces count by character."""
    tokens = _tokens(answer)
    best = 0.0
    for gold in golds:
        best = max(best, _overlap_f1(tokens, _tokens(gold)))
    return best


def _tokens(answer: str) -> list[str]:
    return re.sub(rf"([{UNSPACED}])", r" \1 ", normalise(answer)).split()


def _overlap_f1(found: list[str], gold: list[str]) -> float:
    if not found or not gold:
        return float(found == gold)
    common = (Counter(found) & Counter(gold)).total()
    return 2 * common / (len(found) + len(gold))


class _Words:
    """A tokenizer for any script; that of rouge-score only knows Latin letters."""

    def tokenize(self, text: str) -> list[str]:
        """Return the folded words of a text."""
        return words(text)


def rouge_l(answer: str, golds: Sequence[str]) -> float:
    """Return the best F1 of the longest common subsequence of words (Lin 2004), without stemming."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], tokenizer=_Words())
    best = 0.0
    for gold in golds:
        best = max(best, float(scorer.score(gold, answer)["rougeL"].fmeasure))
    return best


_LETTER = (
    re.compile(r"^\W*([A-Ja-j])\W*$"),
    re.compile(r"\b(?:answer|option|choice)\b(?:\s+is)?\W{0,4}([A-Ja-j])\b(?!['’])", re.I),
    re.compile(r"^\W*([A-Ja-j])[).:]"),
    re.compile(r"\(([A-Ja-j])\)"),
)


def letter(answer: str) -> str:
    """Return the option letter that an answer names, upper-case, or "" if it names none or several."""
    for pattern in _LETTER:
        found = set(map(str.upper, pattern.findall(answer)))
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def letter_score(answer: str, gold: str) -> float:
    """Score a multiple-choice answer by its letter, whatever its case and punctuation."""
    return float(letter(answer) != "" and letter(answer) == letter(gold))


def truth(answer: str) -> bool | None:
    """Return the truth value that an answer opens with or states alone, None if it states none or both."""
    opening = re.match(
        r"\W*(true|yes|correct|supports?|supported|false|no|incorrect|refutes?|refuted)\b", answer, re.I
    )
    if opening:
        return opening[1].lower() in {"true", "yes", "correct", "support", "supports", "supported"}
    found = set(map(str.lower, re.findall(r"\b(true|false)\b", answer, re.I)))
    return found == {"true"} if len(found) == 1 else None


_TRUTHS = {"yes", "no", "true", "false"}


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of gold items among the first k."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold)) if gold else 0.0


def all_gold_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 if every gold item is among the first k."""
    return float(bool(gold) and set(gold) <= set(ranked[:k]))


def ndcg_at(ranked: Sequence[str], gold: Collection[str] | Mapping[str, float], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first k, gains linear, discount log2(rank + 1).

    A repeated id counts at its first place only; `gold` may map each id to its gain.
    """
    gains = dict(gold) if isinstance(gold, Mapping) else dict.fromkeys(gold, 1.0)
    found = []
    for at, id in enumerate(ranked[:k]):
        found.append(0.0 if id in ranked[:at] else gains.get(id, 0.0))
    best = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg(found) / best if best > 0 else 0.0


def _dcg(gains: Sequence[float]) -> float:
    total = 0.0
    for rank, gain in enumerate(gains, 1):
        total += gain / math.log2(rank + 1)
    return total


def mrr(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Return the reciprocal rank of the first gold item."""
    wanted = set(gold)
    for rank, id in enumerate(ranked, 1):
        if id in wanted:
            return 1 / rank
    return 0.0


def auc(labels: Values, scores: Values) -> float:
    """Return the area under the ROC curve, ties counted half; 0.5 if one class is missing."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(labels, scores)) if len(np.unique(labels)) == 2 else 0.5


def average_precision(labels: Values, scores: Values) -> float:
    """Return the average precision, with tied scores as one step; 0 if nothing is positive."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(labels, scores)) if np.any(labels) else 0.0


def citation_precision(cited: Sequence[str], gold: Collection[str]) -> float:
    """Return the share of citations that are gold, 0 if nothing is cited."""
    if not cited:
        return 0.0
    right = 0
    for item in cited:
        right += item in gold
    return right / len(cited)


def citation_recall(cited: Sequence[str], gold: Collection[str]) -> float:
    """Return the share of gold items that are cited."""
    return recall_at(cited, gold, len(cited))


def says(answer: str, golds: Sequence[str]) -> bool:
    """Return whether an answer contains a gold answer as whole words, or states the gold truth value.

    Case, accents, punctuation, English articles and the commas of thousands do not count: "3,000" contains
    "3000", but "1889" does not contain "188".
    """
    if golds and set(map(normalise, golds)) <= _TRUTHS:
        return truth(answer) is not None and truth(answer) in map(truth, golds)
    text = f" {' '.join(_plain(answer))} "
    for gold in map(_plain, golds):
        if gold and f" {' '.join(gold)} " in text:
            return True
    return False


def _plain(text: str) -> list[str]:
    return _tokens(re.sub(r"(?<=\d),(?=\d{3}\b)", "", fold(text)))


def _same_length(a: Sequence[object] | NDArray[Any], b: Sequence[object] | NDArray[Any]) -> None:
    if len(a) != len(b):
        raise ValueError(f"{len(a)} rows against {len(b)}")
