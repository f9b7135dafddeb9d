"""Tiny base models with random weights, and data sets that they can learn in seconds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

CUES = {
    "none": "hello there friend",
    "paragraph": "which year was it founded",
    "document": "compare both reports in depth",
    "image": "what colour is the picture",
    "clip": "when does she drop the glass",
    "video": "main points of the lecture",
}
FILL = ("please", "tell", "me", "now", "then", "again", "maybe", "really", "still", "today")


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Tiny models lose more by sharing work than they gain."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def cues() -> dict[str, str]:
    """The words that give a label away, by label."""
    return CUES


def vocabulary() -> list[str]:
    words = {w for cue in CUES.values() for w in cue.split()} | set(FILL) | set(CUES)
    return sorted(words | {"[SEP]", "moon", "tide", "bread", "oven", "about", ":", "?", "options", "a", "b"})


def tokenizer(special: tuple[str, ...], words: list[str], single: str, pair: str, **named: str) -> Any:
    """Return a tokeniser of whole words, the special ones first."""
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    listed = [*special, *(w for w in words if w not in special)]
    made = Tokenizer(WordLevel({w: i for i, w in enumerate(listed)}, unk_token=named["unk_token"]))
    cut = pre_tokenizers.BertPreTokenizer() if "cls_token" in named else pre_tokenizers.WhitespaceSplit()
    made.pre_tokenizer = cut
    marks = [(w, i) for i, w in enumerate(special) if w in single]
    made.post_processor = TemplateProcessing(single=single, pair=pair, special_tokens=marks)
    return PreTrainedTokenizerFast(tokenizer_object=made, **named)


def bert_tokenizer() -> Any:
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return tokenizer(
        tuple(named.values()), vocabulary(), "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", **named
    )


def t5_tokenizer(words: list[str] | None = None) -> Any:
    named = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    listed = vocabulary() if words is None else words
    return tokenizer(tuple(named.values()), listed, "$A </s>", "$A </s> $B </s>", **named)


def distilbert_config(**changes: Any) -> Any:
    from transformers import DistilBertConfig

    size = {
        "dim": 32,
        "hidden_dim": 64,
        "n_layers": 2,
        "n_heads": 2,
        "max_position_embeddings": 128,
        "dropout": 0.0,
    }
    return DistilBertConfig(**{"vocab_size": len(bert_tokenizer()), "pad_token_id": 0, **size, **changes})


def t5_config(**changes: Any) -> Any:
    from transformers import T5Config

    size = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
    ids = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    return T5Config(**{"vocab_size": len(t5_tokenizer()), **size, **ids, **changes})


def save(folder: Path, model: Any, tokenizer: Any) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny() -> SimpleNamespace:
    """The makers of configurations and tokenisers, and `save`."""
    return SimpleNamespace(
        bert_tokenizer=bert_tokenizer, t5_tokenizer=t5_tokenizer, vocabulary=vocabulary,
        distilbert_config=distilbert_config, t5_config=t5_config, save=save,
    )  # fmt: skip


@pytest.fixture(scope="session")
def distilbert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny DistilBERT as it comes from pretraining: no classification head."""
    import torch
    from transformers import DistilBertModel

    torch.manual_seed(0)
    return save(
        tmp_path_factory.mktemp("base") / "tiny-distilbert",
        DistilBertModel(distilbert_config()),
        bert_tokenizer(),
    )


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny T5 as it comes from pretraining."""
    import torch
    from transformers import T5ForConditionalGeneration

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("base") / "tiny-t5"
    return save(folder, T5ForConditionalGeneration(t5_config()), t5_tokenizer())


Write = Callable[..., Path]


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Writes a JSON Lines file."""

    def made(rows: list[Any], name: str = "rows.jsonl") -> Path:
        path = tmp_path_factory.mktemp("data") / name
        path.write_text(
            "".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in rows), encoding="utf-8"
        )
        return path

    return made


@pytest.fixture(scope="session")
def routed(write: Write) -> Path:
    """240 questions whose label can be told by their words."""
    rows = [
        {"query": f"{FILL[i % 10]} {FILL[(i // 10) % 10]} {cue}?\nA. {cue}", "label": label, "source": "made"}
        for label, cue in CUES.items()
        for i in range(40)
    ]
    return write(rows, "routed.jsonl")


@pytest.fixture(scope="session")
def pairs(write: Write) -> Path:
    """Questions about the moon with passages on the tide, or on bread."""
    rows = []
    for i in range(40):
        question = f"{FILL[i % 10]} tell me about the moon {FILL[(i // 10) % 10]}"
        rows.append(
            {"qid": str(i), "question": question, "title": "", "passage": "moon tide " * 3, "label": 1}
        )
        rows.append(
            {"qid": str(i), "question": question, "title": "oven", "passage": "bread oven " * 3, "label": 0}
        )
    return write(rows, "pairs.jsonl")


class Trained(NamedTuple):
    """A checkpoint that was trained, and its figures on the held-out rows."""

    folder: Path
    figures: dict[str, float]


@pytest.fixture(scope="session")
def trained(
    tmp_path_factory: pytest.TempPathFactory, distilbert: Path, t5: Path, routed: Path, pairs: Path
) -> dict[str, Trained]:
    """The three kinds of checkpoint, trained once, by name."""
    from ragweave.evals import train_text as t

    def quick(recipe: Any) -> Any:
        return replace(recipe, epochs=8, rate=3e-3, batch=8)

    out, more = tmp_path_factory.mktemp("trained"), {"licence": "CC0"}
    of_t5 = {"prompt": "about {question}", **more}
    return {
        name: Trained(out / name, train(data, str(base), out / name, quick(recipe), **options))
        for name, train, data, base, recipe, options in (
            ("distilbert", t.train_router, routed, distilbert, t.ENCODER_ROUTER, more),
            ("t5", t.train_router, routed, t5, t.T5_ROUTER, of_t5),
            ("evaluator", t.train_evaluator, pairs, t5, t.T5_EVALUATOR, more),
        )
    }
