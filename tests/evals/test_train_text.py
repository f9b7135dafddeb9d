"""What a checkpoint is trained on; tests/hf trains tiny ones."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.evals.train_text import _inputs
from ragweave.evals.train_text_data import LabelledText, evaluator_rows, router_rows, split
from ragweave.models.checkpoint import TextModel
from ragweave.models.errors import InputError
from ragweave.models.relevance import Passage


def test_an_evaluator_is_trained_on_the_line_that_it_reads_later() -> None:
    reader = object.__new__(TextModel)
    reader.joined, reader.tokenizer = True, SimpleNamespace(all_special_tokens=["</s>"])
    passage = Passage("Pell", "a town\nwith a harbour")
    trained = _inputs(reader, [LabelledText("Where is Pell?", 1.0, "q", passage)], "regress")
    assert trained == (["Where is Pell?"], ["Pell // a town with a harbour"])
    assert [(a, b) for a, b in zip(*trained, strict=True)] == [reader.pair("Where is Pell?", passage)]


def file(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows), encoding="utf-8")
    return path


ROUTED = {"query": "who is it", "label": "paragraph", "source": "a"}
JUDGED = {"question": "who", "passage": "it is she", "label": 1}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"query": "who"}], "line 1 of rows.jsonl has no label"),
        ([{"label": "image"}], "line 1 of rows.jsonl has no query"),
        ([ROUTED, "{broken"], "line 2 of rows.jsonl is not JSON"),
        ([ROUTED, {**ROUTED, "label": "table"}], "row 2 of rows.jsonl has the unknown label 'table'"),
        ([{**ROUTED, "query": " "}, ROUTED], "the query of row 1 of rows.jsonl is empty"),
        ([{**ROUTED, "query": 3}, ROUTED], "is not text"),
        ([ROUTED, ROUTED], "every row of rows.jsonl has the label paragraph"),
        ([], "holds no rows"),
    ],
)
def test_a_router_file_that_cannot_be_trained_on_is_explained(
    tmp_path: Path, rows: list[Any], message: str
) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        router_rows(file(tmp_path, *rows))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"question": "who", "label": 1}], "line 1 of rows.jsonl has no passage"),
        ([JUDGED, {**JUDGED, "label": "yes"}], "row 2 of rows.jsonl has the unknown label 'yes'"),
        ([JUDGED, {**JUDGED, "label": 2}], "unknown label 2"),
        ([JUDGED, {**JUDGED, "label": float("nan")}], "unknown label nan"),
        ([JUDGED, {**JUDGED, "passage": ""}], "row 2 of rows.jsonl has an empty question or passage"),
        ([JUDGED, {**JUDGED, "question": None}], "row 2 of rows.jsonl has an empty question or passage"),
        ([JUDGED, JUDGED], "same label"),
    ],
)
def test_an_evaluator_file_that_cannot_be_trained_on_is_explained(
    tmp_path: Path, rows: list[Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        evaluator_rows(file(tmp_path, *rows))


@given(
    st.lists(st.integers(0, 9), min_size=20, max_size=60).filter(lambda g: len(set(g)) > 1), st.integers(0, 5)
)
def test_no_question_is_on_both_sides(groups: list[int], seed: int) -> None:
    rows = [LabelledText(str(i), 0, str(g)) for i, g in enumerate(groups)]
    kept, held = split(rows, 0.1, seed, whole=True)
    assert held and kept
    assert not {r.group for r in kept} & {r.group for r in held}
