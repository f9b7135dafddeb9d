"""Cross-encoders of transformers and of fastembed, tiny ones, loaded by the real packages and not by stand-ins."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragweave.models.errors import ModelError, WeightsError
from ragweave.models.relevance import Passage
from ragweave.models.rerank import reranker
from ragweave.models.settings import model_settings

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")

QUESTION = "tell me about the moon"
PASSAGES = [Passage("oven", "bread oven bread"), Passage("", "moon tide moon tide moon tide"), Passage("oven", "bread")]
CROSS = "Xenova/ms-marco-MiniLM-L-6-v2"


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


def test_a_batch_gives_what_its_passages_give_alone(encoder: Any) -> None:
    made = reranker(f"hf:{encoder(1)}")
    assert made is not None
    many = [Passage("moon", "tide " * n) for n in range(1, 40)]
    alone = [float(made.scores(QUESTION, [p])[0]) for p in many]
    assert made.scores(QUESTION, many) == pytest.approx(np.array(alone), abs=1e-4)


def test_a_passage_longer_than_the_model_reads_is_cut(encoder: Any) -> None:
    made = reranker(f"hf:{encoder(1)}")
    assert made is not None
    assert np.isfinite(made.scores(QUESTION, [Passage("moon", "tide bread " * 2_000)])).all()


def test_a_model_of_three_labels_is_no_cross_encoder(encoder: Any) -> None:
    with pytest.raises(ModelError, match="3 labels"):
        reranker(f"hf:{encoder(3)}")


def test_a_pickled_cross_encoder_is_not_loaded(encoder: Any) -> None:
    import torch

    folder = encoder(1)
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(WeightsError, match="a pickle only"):
        reranker(f"hf:{folder}")


def test_a_cross_encoder_that_was_trained_here_puts_the_right_passage_first(
    distilbert: Path, pairs: Path, tmp_path: Path
) -> None:
    from ragweave.evals.train_text import T5_EVALUATOR, train_evaluator

    out = tmp_path / "judge"
    train_evaluator(pairs, str(distilbert), out, replace(T5_EVALUATOR, epochs=6, rate=3e-3, batch=8))
    made = reranker(f"hf:{out}")
    assert made is not None
    assert int(made.scores(QUESTION, PASSAGES).argmax()) == 1


async def test_the_graph_ranks_with_it_and_says_nothing(
    encoder: Any, monkeypatch: pytest.MonkeyPatch, stock: Any
) -> None:
    from ragweave.components.context import Context
    from ragweave.graphs.rag_fusion import graph

    stock({"moon.md": "# Moon\n\nThe moon raises the tide.\n", "bread.md": "# Bread\n\nBread is baked in an oven.\n"})
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
    assert state.get("notes", []) == []


def overlap() -> Any:
    """An ONNX cross-encoder: how many tokens of the question stand in the passage as well."""
    onnx = pytest.importorskip("onnx", reason="`make test-hf` installs it")
    from onnx import TensorProto, helper

    def node(op: str, given: list[str], out: str, **options: Any) -> Any:
        return helper.make_node(op, given, [out], **options)

    axes = {name: helper.make_tensor(name, TensorProto.INT64, [1], [at]) for name, at in (("one", 1), ("two", 2))}
    both = helper.make_tensor("both", TensorProto.INT64, [2], [1, 2])
    first = helper.make_tensor("least", TensorProto.INT64, [], [4])  # below it are special tokens
    nodes = [
        node("Unsqueeze", ["input_ids", "two"], "across"),
        node("Unsqueeze", ["input_ids", "one"], "down"),
        node("Equal", ["across", "down"], "same"),
        node("Cast", ["token_type_ids"], "passage", to=TensorProto.BOOL),
        node("Not", ["passage"], "question"),
        node("GreaterOrEqual", ["input_ids", "least"], "word"),
        node("And", ["question", "word"], "asked"),
        node("Unsqueeze", ["asked", "two"], "asked2"),
        node("Unsqueeze", ["passage", "one"], "passage2"),
        node("And", ["asked2", "passage2"], "between"),
        node("And", ["same", "between"], "shared"),
        node("Cast", ["shared"], "counted", to=TensorProto.FLOAT),
        node("ReduceSum", ["counted", "both"], "total", keepdims=0),
        node("Unsqueeze", ["total", "one"], "logits"),
    ]
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    graph = helper.make_graph(nodes, "overlap", ids, [out], [*axes.values(), both, first])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(made)
    return made


@pytest.fixture
def cached(home: Path, tiny: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the ONNX cross-encoder where fastembed looks for a model of its list, and close the network."""
    pytest.importorskip("fastembed", reason="the extra fastembed is not installed; `make test-hf` installs it")
    import onnx
    from tokenizers.processors import TemplateProcessing

    folder = home / "models" / "fastembed" / f"models--{CROSS.replace('/', '--')}"
    snapshot = folder / "snapshots" / "0"
    (snapshot / "onnx").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("0", encoding="utf-8")
    tokenizer = tiny.bert_tokenizer()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save_pretrained(snapshot)
    known = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    for name, facts in {
        "config.json": {"pad_token_id": 0},
        "special_tokens_map.json": known,
        "tokenizer_config.json": {**known, "model_max_length": 64},
    }.items():
        (snapshot / name).write_text(json.dumps(facts), encoding="utf-8")
    onnx.save(overlap(), snapshot / "onnx" / "model.onnx")
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    model_settings.cache_clear()
    return snapshot


def test_a_fastembed_cross_encoder_is_loaded_from_disk_and_orders_by_the_pair(cached: Path) -> None:
    made = reranker(f"fastembed:{CROSS}")
    assert made is not None
    moon = [Passage("", "the moon"), Passage("", "bread"), Passage("the moon", "about me")]
    assert made.scores(QUESTION, moon).tolist() == [2.0, 0.0, 4.0]
    many = [Passage("", "moon " * n) for n in range(40)]
    assert made.scores("moon", many).tolist() == [float(n) for n in range(40)]


def test_a_damaged_file_of_fastembed_is_an_error_in_words(cached: Path) -> None:
    (cached / "onnx" / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match="cannot be loaded"):
        reranker(f"fastembed:{CROSS}")


def test_a_fastembed_model_that_is_not_here_is_not_fetched_when_offline(cached: Path) -> None:
    with pytest.raises(ModelError, match="RAGWEAVE_OFFLINE"):
        reranker("fastembed:BAAI/bge-reranker-base")
