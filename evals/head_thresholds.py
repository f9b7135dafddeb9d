"""What CRAG's two thresholds do for the relevance head that ships: `ragweave eval thresholds --data DATA`.

The paper finds thresholds by hand for each data set and its own evaluator (CRAG, section 5). Here one rule
reads them off questions with and without a relevant passage (`thresholds.calibrate`), on sets that the head
was not trained on and on the one that its scale was fitted to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ragweave.components.grade import CORRECT
from ragweave.evals.evaluator_data import hotpot, ranked
from ragweave.evals.pairs import scorer
from ragweave.evals.report import Value
from ragweave.evals.report import table as as_text
from ragweave.evals.thresholds import VerdictShares, best_scores, calibrate, verdict_shares
from ragweave.models.relevance import LOWER

SHIPPED = (CORRECT, LOWER)
"""Upper and lower threshold of the head, as `grade` uses them."""
SETS = {"XQuAD, not trained on": "xquad", "HotpotQA, its scale was fitted to": "hotpot"}


@dataclass(frozen=True)
class HeadThresholds:
    """One set.

    Attributes:
        name: its name.
        questions: how many there are.
        upper: threshold that the rule chooses for `correct`.
        lower: threshold that the rule chooses for `incorrect`.
        present: verdicts over questions with their relevant passages among the candidates.
        absent: verdicts over the same without them.
    """

    name: str
    questions: int
    upper: float
    lower: float
    present: VerdictShares
    absent: VerdictShares

    @property
    def precision(self) -> float:
        """Share of `correct` verdicts that have a relevant passage, both kinds of questions counted alike."""
        said = self.present.correct + self.absent.correct
        return self.present.correct / said if said else 1.0


async def measure(data: Path, precision: float, kept: float) -> list[HeadThresholds]:
    """Return what the rule chooses on each set, and what the shipped thresholds do there.

    Args:
        data: folder of the public data sets.
        precision: wanted of the upper threshold, as `calibrate` takes it.
        kept: share of answerable questions that the lower one keeps.
    """
    found = []
    for name, which in SETS.items():
        asked = hotpot(data) if which == "hotpot" else ranked(data, "squad_xquad_en", "passages.jsonl")[0]
        present, absent = await best_scores(asked, scorer("local")(asked))
        chosen = calibrate(present, absent, precision, kept)
        with_gold, without = verdict_shares(present, SHIPPED), verdict_shares(absent, SHIPPED)
        row = HeadThresholds(name, len(asked), chosen.upper, chosen.lower, with_gold, without)
        found.append(row)
    return found


def table(rows: Sequence[HeadThresholds]) -> str:
    """Return what the rule chooses and what the shipped thresholds do, one line for each set."""
    columns = ("set", "questions", "rule's upper", "rule's lower", "with gold", "without gold", "precision")
    lines: list[list[Value]] = []
    for row in rows:
        chosen: list[Value] = [row.name, row.questions, row.upper, row.lower]
        lines.append([*chosen, shares(row.present), shares(row.absent), row.precision])
    return as_text(columns, lines)


def shares(said: VerdictShares) -> str:
    """Return the shares of `correct`, `ambiguous` and `incorrect` as text."""
    return f"{said.correct:.3f} / {said.ambiguous:.3f} / {said.incorrect:.3f}"


def flat(rows: Sequence[HeadThresholds]) -> dict[str, float]:
    """Return the figures by name, as `--json` writes them."""
    figures: dict[str, float] = {"upper": CORRECT, "lower": LOWER}
    for row in rows:
        of = row.name.partition(",")[0].lower()
        figures |= {f"{of}_rule_upper": row.upper, f"{of}_rule_lower": row.lower}
        for kind, said in (("present", row.present), ("absent", row.absent)):
            for verdict, share in asdict(said).items():
                figures[f"{of}_{kind}_{verdict}"] = share
        figures[f"{of}_precision"] = row.precision
    return figures
