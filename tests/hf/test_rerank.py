"""Cross-encoders of transformers, tiny ones, loaded by the real package and not by a stand-in."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragweave.models.errors import ModelError
from ragweave.models.relevance import Passage
from ragweave.models.rerank import reranker
from ragweave.models.settings import model_settings

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")

QUESTION = "tell me about the moon"
PASSAGES = [
    Passage("oven", "bread oven bread"),
    Passage("", "moon tide moon tide moon tide"),
    Passage("oven", "bread"),
]


@pytest.fixture
def encoder(tmp_path: Path, tiny: SimpleNamespace) -> Any:
    """Make a folder with a tiny random cross-encoder of so many labels."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    def made(labels: int) -> Path:
        tokenizer = tiny.bert_tokenizer()
        config = BertConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=64, max_position_embeddings=64, num_labels=labels, initializer_range=0.5,
        )  # fmt: skip
        torch.manual_seed(0)
        return Path(tiny.save(tmp_path / f"cross-{labels}", BertForSequenceClassification(config), tokenizer))

    return made


@pytest.mark.parametrize("labels", [1, 2])
def test_a_transformers_cross_encoder_scores_each_pair_as_the_package_does(encoder: Any, labels: int) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = encoder(labels)
    made = reranker(f"hf:{folder}")
    assert made is not None
    scores = made.scores(QUESTION, PASSAGES)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    cut = AutoTokenizer.from_pretrained(folder)
    for passage, score in zip(PASSAGES, scores, strict=True):
        text = f"{passage.title}\n{passage.text}" if passage.title else passage.text
        with torch.inference_mode():
            (logits,) = model(**cut([QUESTION], [text], return_tensors="pt")).logits.tolist()
        assert score == pytest.approx(logits[0] if labels == 1 else logits[1] - logits[0], abs=1e-4)
    assert len(set(scores.tolist())) == 3
    many = [Passage("moon", "tide bread " * n) for n in (1, 5, 9, 2_000)] * 5
    alone = [float(made.scores(QUESTION, [p])[0]) for p in many]
    assert made.scores(QUESTION, many) == pytest.approx(np.array(alone), abs=1e-4), "a batch changes nothing"


def test_a_cross_encoder_of_three_labels_is_refused(encoder: Any) -> None:
    with pytest.raises(ModelError, match="3 labels"):
        reranker(f"hf:{encoder(3)}")


async def test_the_graph_ranks_with_it_and_says_nothing(
    encoder: Any, monkeypatch: pytest.MonkeyPatch, stock: Any
) -> None:
    from ragweave.components.context import Context
    from ragweave.graphs.rag_fusion import graph

    stock(
        {
            "moon.md": "# Moon\n\nThe moon raises the tide.\n",
            "bread.md": "# Bread\n\nBread is baked in an oven.\n",
        }
    )
    folder = encoder(1)
    monkeypatch.setenv("RAGWEAVE_RERANK", f"hf:{folder}")
    model_settings.cache_clear()
    monkeypatch.setattr("ragweave.components.local.rank.STRONG", 1.1)
    sent: Any = {"messages": [("human", "What does the moon raise?")]}
    state = await graph.ainvoke(sent, context=Context(mode="extractive", corpora=("paragraph",)))
    made = reranker()
    assert made is not None and made.name == f"hf:{folder}"
    read = [Passage(e["title"], e["text"]) for e in state["evidence"]]
    assert [e["score"] for e in state["evidence"]] == pytest.approx(
        made.scores("What does the moon raise?", read).tolist(), abs=1e-3
    )
    assert not [note for note in state.get("notes", []) if "rerank" in note.lower()]
