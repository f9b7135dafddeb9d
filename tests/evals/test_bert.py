"""BERTScore where its package or its weights are not there, and where they are."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.evals.bench.run import mark
from ragweave.evals.bert import BertScore, with_bert
from ragweave.models.errors import InputError, MissingExtra


def test_a_folder_that_holds_no_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder of weights"):
        BertScore(str(tmp_path))


@pytest.mark.skipif(find_spec("bert_score") is not None, reason="the package is here")
def test_a_package_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(MissingExtra, match="bertscore"):
        BertScore(f"{tmp_path}:3")


class Lengths:
    """Scores an answer by its length, so that it can be seen who is scored."""

    def scores(self, answers: list[str], golds: list[list[str]]) -> list[float]:
        return [float(len(answer)) for answer in answers]


def row(metrics: list[str], shown: str, abstained: bool = False) -> Any:
    from ragweave.evals.bench.run import ScoredSet

    outcome: Any = SimpleNamespace(
        shown=shown,
        answer=SimpleNamespace(abstained=abstained),
        question=SimpleNamespace(id="q", gold=(), answers=("moon",), letter=""),
    )
    asked: Any = SimpleNamespace(set=SimpleNamespace(metrics=metrics))
    return ScoredSet(asked, outcome, ())


def test_sets_that_are_scored_by_it_have_a_value_for_each_question_and_others_none() -> None:
    rows = [row(["rouge_l", "bert"], "moon"), row(["em"], "moon"), row(["bert"], "I do not know", True)]
    assert [mark("bert", scored) for scored in with_bert(rows, Lengths())] == [4.0, None, 0.0]  # type: ignore[arg-type]
    assert [mark("bert", scored) for scored in rows] == [None, None, None]
