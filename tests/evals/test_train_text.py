"""What a checkpoint is trained on; tests/hf trains tiny ones."""

from __future__ import annotations

from types import SimpleNamespace

from ragweave.evals.train_text import _inputs
from ragweave.evals.train_text_data import LabelledText
from ragweave.models.checkpoint import TextModel
from ragweave.models.relevance import Passage


def test_an_evaluator_is_trained_on_the_line_that_it_reads_later() -> None:
    reader = object.__new__(TextModel)
    reader.joined, reader.tokenizer = True, SimpleNamespace(all_special_tokens=["</s>"])
    passage = Passage("Pell", "a town\nwith a harbour")
    trained = _inputs(reader, [LabelledText("Where is Pell?", 1.0, "q", passage)], "regress")
    assert trained == (["Where is Pell?"], ["Pell // a town with a harbour"])
    assert [(a, b) for a, b in zip(*trained, strict=True)] == [reader.pair("Where is Pell?", passage)]
