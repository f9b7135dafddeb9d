"""Compare the kept answers of several arms to the same questions."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from printed import judge_of
from question_sets import DATA, Question, Row, questions, read

UNMARKED = re.compile(r"\(unverified\)|\(not found in the sources\)")
"""How an answer marks a sentence that its sources do not support."""
VERDICTS = ("right", "wrong", "abstained")


def verdicts(rows: dict[str, Row], asked: Sequence[Question] = ()) -> dict[str, str]:
    """Judge answers: right, wrong or abstained by question."""
    judge, out = judge_of(DATA), {}
    for q in asked or questions():
        if q["id"] in rows:
            row = rows[q["id"]]
            out[q["id"]] = judge.judge({"need": 1, **q}, row["answer"], row["abstained"])[0]
    return out


def holds_gold(q: Question, files: list[str], titles: dict[str, str]) -> bool:
    """Return whether every gold file is among some files; `titles` names the passages of HotpotQA."""
    missing = list(q["gold_files"])
    for file in files:
        name = titles.get(Path(file).name, file) if q["set"] == "hops" else file
        missing = [gold for gold in missing if not name.endswith(gold)]
    return not missing


class Comparison:
    """The answers of several arms to the same questions, judged."""

    def __init__(self, arms: dict[str, dict[str, Row]], asked: Sequence[Question], base: str) -> None:
        self.arms = arms
        self.base = base
        self.asked = list(asked)
        for rows in arms.values():
            self.asked = [q for q in self.asked if q["id"] in rows]
        self.gold = [q for q in self.asked if q["answerable"] and q["gold_files"]]
        self.widths: dict[str, int] = {}
        """By set: the width of its column."""
        for q in self.asked:
            self.widths[q["set"]] = max(6, len(q["set"]))
        self.judged: dict[str, list[str]] = {}
        """By arm: the verdict on each question."""
        for arm, rows in arms.items():
            verdict = verdicts(rows, self.asked)
            self.judged[arm] = [verdict[q["id"]] for q in self.asked]
        self.titles: dict[str, str] = {}
        for n, passage in enumerate(read(DATA / "multihop_hotpotqa" / "corpus.jsonl")):
            self.titles[f"{n:06d}.md"] = passage["title"]

    def head(self) -> str:
        """Return the headers of the columns of `line`."""
        names = ""
        for name, width in self.widths.items():
            names += f" {name:>{width}}"
        return f"right wrong declined{names}  calls  tokens in  out   read kept cited  marked"

    def line(self, arm: str) -> str:
        """Return the figures of an arm."""
        judged, rows = self.judged[arm], [self.arms[arm][q["id"]] for q in self.asked]
        right, wrong, declined = map(judged.count, VERDICTS)
        line = f"{right:5} {wrong:5} {declined:8}"
        of_sets: Counter[str] = Counter()
        for q, verdict in zip(self.asked, judged, strict=True):
            of_sets[q["set"]] += verdict == "right"
        for name, width in self.widths.items():
            line += f" {of_sets[name]:{width}}"
        line += f" {_mean(rows, 'calls'):6.2f} {_mean(rows, 'tokens_in'):10.0f}"
        line += f" {_mean(rows, 'tokens_out'):4.0f}"
        line += f"  {self._with_gold(arm, 'read'):5} {self._with_gold(arm, 'kept'):4}"
        return f"{line} {self._with_gold(arm, 'cited'):5} {_marked(rows):7}"

    def _with_gold(self, arm: str, key: str) -> int:
        """Return for how many questions all gold files were read, kept or cited."""
        count = 0
        for q in self.gold:
            count += holds_gold(q, self.arms[arm][q["id"]].get(key, []), self.titles)
        return count

    def gain(self, arm: str) -> str:
        """Return the paired difference of an arm from the base; "" if there is nothing to compare with."""
        if self.base not in self.arms or arm == self.base:
            return ""
        gains: list[int] = []
        for verdict, of_base in zip(self.judged[arm], self.judged[self.base], strict=True):
            gains.append((verdict == "right") - (of_base == "right"))
        return f"   {interval(gains)}"

    def by_kind(self) -> Iterator[str]:
        """Yield the verdicts on each kind of question, a column for each arm."""
        yield "right / wrong / declined  " + "  ".join([f"{arm:>9}" for arm in self.arms])
        numbers: dict[str, list[int]] = {}
        for n, q in enumerate(self.asked):
            numbers.setdefault(q["kind"], []).append(n)
        for kind, of_kind in numbers.items():
            line = f"{kind:24}"
            for judged in self.judged.values():
                found = [judged[n] for n in of_kind]
                cell = "/".join(map(str, map(found.count, VERDICTS)))
                line += f"  {cell:>9}"
            yield line


def _mean(rows: Sequence[Row], key: str) -> float:
    return fmean([row.get(key, 0) for row in rows])


def _marked(rows: Sequence[Row]) -> int:
    """Return how many answers mark a sentence as not supported."""
    count = 0
    for row in rows:
        count += UNMARKED.search(row["answer"]) is not None
    return count


def interval(gains: list[int], draws: int = 2_000) -> str:
    """Return the mean of paired differences with its 95 % bootstrap interval (seed 0)."""
    dice, n = random.Random(0), len(gains) or 1
    means: list[float] = []
    for _ in range(draws):
        means.append(sum(dice.choices(gains, k=n)) / n)
    means.sort()
    return f"{sum(gains) / n:+.3f} [{means[int(0.025 * draws)]:+.3f}, {means[int(0.975 * draws)]:+.3f}]"
