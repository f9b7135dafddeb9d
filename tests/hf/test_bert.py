"""BERTScore by its package, with tiny weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.evals.bert import BertScore
from ragweave.models.errors import InputError, WeightsError
from ragweave.tests.hf.conftest import bert_tokenizer

pytestmark = pytest.mark.hf
pytest.importorskip("bert_score", reason="the extra `bertscore` is not installed")


def save(folder: Path, longest: int | None) -> Path:
    """Save a tiny BERT; `longest` is the longest text that its tokeniser states."""
    from transformers import BertConfig, BertModel

    tokens = bert_tokenizer()
    if longest is not None:
        tokens.model_max_length = longest
    tokens.save_pretrained(folder)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(tokens), **size)).save_pretrained(folder)
    return folder


def test_the_same_words_score_one_and_the_nearest_gold_counts(tmp_path: Path) -> None:
    model = BertScore(f"{save(tmp_path / 'tiny', 64)}:2")
    same, other, empty = model.scores(
        ["the moon tide", "bread oven", " "], [["bread", "the moon tide"], ["moon tide year"], ["moon"]]
    )
    assert same == pytest.approx(1.0, abs=1e-4) and other < 0.999 and empty == 0.0
    assert model.name == "tiny, layer 2"


def test_weights_without_a_known_layer_or_a_longest_text_are_refused_with_a_remedy(tmp_path: Path) -> None:
    folder = save(tmp_path / "tiny", None)
    with pytest.raises(InputError, match=":LAYER"):
        BertScore(str(folder))
    with pytest.raises(WeightsError, match="model_max_length"):
        BertScore(f"{folder}:2").scores(["moon"], [["moon"]])
