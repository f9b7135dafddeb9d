"""What a checkpoint reads; tests/hf loads real ones."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ragweave.models.checkpoint import TextModel
from ragweave.models.relevance_features import Passage


@pytest.mark.parametrize(
    ("joined", "title", "read"),
    [
        (True, "Pell", "Pell // a town with a harbour"),
        (True, "", "a town with a harbour"),
        (False, "Pell", "Pell: a town\nwith a harbour"),
    ],
)
def test_an_encoder_decoder_reads_title_and_text_as_the_evaluator_of_crag_does(
    joined: bool, title: str, read: str
) -> None:
    reader = object.__new__(TextModel)
    reader.joined, reader.tokenizer = joined, SimpleNamespace(all_special_tokens=["</s>"])
    assert reader.pair("Where?</s>", Passage(title, "a town\nwith a harbour")) == ("Where? ", read)
