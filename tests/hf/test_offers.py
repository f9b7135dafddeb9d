"""What `ragweave setup` offers of fastembed is what fastembed lists, and what it fetches is what fastembed opens."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragweave.models import offered
from ragweave.models.embed import encoder
from ragweave.models.image_text import text_model
from ragweave.models.offers import OFFERS, TABLE, Offer
from ragweave.models.relevance_reading import Passage
from ragweave.models.rerank import reranker
from ragweave.models.settings import model_settings
from ragweave.tests.support import ScriptedHub

pytestmark = pytest.mark.hf
fastembed = pytest.importorskip("fastembed")


@pytest.mark.parametrize("offer", [o for o in OFFERS if o.source == "fastembed"], ids=lambda o: o.name)
def test_name_size_and_licence_of_an_offer_are_those_of_fastembed(offer: Offer) -> None:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    kinds = {
        "encoder": fastembed.TextEmbedding,
        "reranker": TextCrossEncoder,
        "pictures": fastembed.ImageEmbedding,
    }
    (row,) = [row for row in kinds[offer.part].list_supported_models() if row["model"] == offer.name]
    size = row["size_in_GB"]
    if offer.part == "pictures":
        texts = fastembed.TextEmbedding.list_supported_models()
        size += next(row["size_in_GB"] for row in texts if row["model"] == text_model(offer.name))
    assert (round(size * 1_000), row["license"]) == (offer.megabytes, offer.licence.lower())
    assert row["sources"]["hf"]


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"ready when was the lamp first lit in 1874 tea".split()]


def files_of(offer: Offer, row: dict[str, Any]) -> dict[str, bytes]:
    """Return a model of a few words in the layout of an offer: its encoder repeats, its reranker likes one word."""
    onnx, tokenizers = pytest.importorskip("onnx"), pytest.importorskip("tokenizers")
    helper, ids, ends = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    width = row.get("dim") or 1
    table = np.random.default_rng(1).normal(size=(len(WORDS), width)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["states"])]
    if offer.part == "reranker":
        table[:, 0] = [word == "1874" for word in WORDS]
        nodes.append(helper.make_node("ReduceMean", ["states"], ["logits"], axes=[1], keepdims=0))
    given = [helper.make_tensor_value_info(n, ids, ["b", "s"]) for n in ("input_ids", "attention_mask")]
    last = nodes[-1].output[0]
    made = [
        helper.make_tensor_value_info(last, ends, ["b", width] if last == "logits" else ["b", "s", width])
    ]
    graph = helper.make_graph(nodes, "tiny", given, made, [onnx.numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    splits = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: n for n, w in enumerate(WORDS)}, unk_token="[UNK]")
    )
    splits.normalizer = tokenizers.normalizers.Lowercase()
    splits.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return {
        row["model_file"]: model.SerializeToString(),
        "tokenizer.json": splits.to_str().encode(),
        "tokenizer_config.json": json.dumps({"model_max_length": 64, "pad_token": "[PAD]"}).encode(),
        "config.json": json.dumps({"pad_token_id": 0}).encode(),
        "special_tokens_map.json": json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}).encode(),
    }


@pytest.mark.parametrize(
    "offer", [o for o in OFFERS if o.part in ("encoder", "reranker")], ids=lambda o: o.name
)
def test_what_is_fetched_of_an_offer_is_opened_at_its_commit_and_without_a_network_from_then_on(
    offer: Offer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    maker = fastembed.TextEmbedding if offer.part == "encoder" else TextCrossEncoder
    (row,) = [row for row in maker.list_supported_models() if row["model"] == offer.name]
    with ScriptedHub(files_of(offer, row), row["sources"]["hf"]) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        (choice,) = [c for c in asyncio.run(offered.choices(offer.part)) if f" {offer.name}:" in c.text]
        setting = asyncio.run(choice.take(print))[TABLE[offer.part].variable]
    assert setting == f"fastembed:{offer.name}@{hub.commit}"
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    model_settings.cache_clear()
    if offer.part == "encoder":
        assert encoder(setting).queries(["the lamp"]).shape == (1, row["dim"])
    else:
        made = reranker(setting)
        assert made is not None
        assert made.scores("When?", [Passage("", "the tea"), Passage("", "lit in 1874")]).argmax() == 1
