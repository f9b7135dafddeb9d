from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragweave.models import checkpoint, rerank
from ragweave.models.checkpoint import TextModel
from ragweave.models.checkpoint_files import find, read_config, read_sheet, usable_labels
from ragweave.models.errors import (
    InputError,
    MissingExtra,
    ModelError,
    ModelTransient,
    RagweaveError,
    WeightsError,
)
from ragweave.models.relevance_reading import Passage
from ragweave.models.rerank import PairReranker, Reranker, reranker
from ragweave.models.settings import model_settings
from ragweave.tests.support import ScriptedHub

KNOWN = ("none", "paragraph", "image")


def folder(at: Path, config: object = None, **files: bytes) -> Path:
    at.mkdir()
    if config is not None:
        (at / "config.json").write_text(
            config if isinstance(config, str) else json.dumps(config), encoding="utf-8"
        )
    for name, content in files.items():
        (at / name.replace("__", ".")).write_bytes(content)
    return at


@pytest.mark.parametrize(
    ("config", "files", "message"),
    [
        ("{broken", {}, "made is not a checkpoint"),
        ({"hidden": 3}, {}, "made is not a checkpoint"),
        ({"model_type": "t5"}, {}, "made has no weights"),
        ({"model_type": "t5"}, {"pytorch_model__bin": b"\x80"}, "a pickle only, which can run code"),
        ({"model_type": "t5"}, {"model__safetensors": b"x"}, "made has no tokeniser"),
        ({"model_type": "t5"}, {"weights__pt": b"PK"}, "a pickle only, which can run code"),
    ],
)
def test_a_folder_that_is_no_checkpoint_is_explained(
    tmp_path: Path, config: object, files: dict[str, bytes], message: str
) -> None:
    with pytest.raises(WeightsError, match=message):
        read_config(folder(tmp_path / "made", config, **files))


@pytest.mark.parametrize(
    "wanted", ["./nowhere", "/nowhere/at/all", "nowhere", "a/b/c", "~nobody/x", "a b/c", ""]
)
def test_what_is_neither_a_folder_nor_a_name_of_the_hub_is_refused(wanted: str) -> None:
    with pytest.raises(WeightsError, match="there is no checkpoint folder"):
        find(wanted)


COMMIT = "c0ffee" * 6 + "cafe"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedHub]:
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    files = {"config.json": b"{}", "model.safetensors": b"s" * 5_000, "onnx/model.txt": b"x"}
    with ScriptedHub({**files, "pytorch_model.bin": b"\x80"}) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def test_a_commit_is_fetched_once_without_pickles_and_subfolders(hub: ScriptedHub, home: Path) -> None:
    found = find(f"owner/model@{COMMIT}")
    assert home in found.parents
    assert sorted(p.name for p in found.iterdir()) == ["config.json", "model.safetensors"]
    hub.asked.clear()
    assert find(f"owner/model@{COMMIT}") == found
    assert not [path for method, path, _ in hub.asked if method == "GET" and "/resolve/" in path]


def test_the_layout_in_which_crag_released_its_evaluator_is_fetched_and_found_whole(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {
        "model_type": "t5",
        "architectures": ["T5ForSequenceClassification"],
        "is_encoder_decoder": True,
    }
    hub.files |= {
        "config.json": json.dumps(config).encode(),
        "spiece.model": b"p",
        "special_tokens_map.json": b"{}",
        "tokenizer_config.json": b'{"tokenizer_class": "T5Tokenizer"}',
    }
    del hub.files["onnx/model.txt"]
    found = find(f"owner/model@{COMMIT}")
    assert {p.name for p in found.iterdir()} == {*hub.files} - {"pytorch_model.bin"}
    assert read_config(found) == config and read_sheet(found).task is None
    opened: list[Path] = []
    monkeypatch.setattr(checkpoint, "classifier", opened.append)
    monkeypatch.setattr(checkpoint, "CheckpointEvaluator", lambda reader: "evaluator")
    assert checkpoint.evaluator(f"owner/model@{COMMIT}") == "evaluator" and opened == [found]


def test_a_file_without_the_sha256_that_the_hub_states_is_thrown_away(hub: ScriptedHub) -> None:
    blob = (find(f"owner/model@{COMMIT}") / "model.safetensors").resolve()
    blob.write_bytes(b"t" * 5_000)
    with pytest.raises(WeightsError, match=r"model\.safetensors of owner/model does not have the sha256"):
        find(f"owner/model@{COMMIT}")
    assert not blob.exists()


def test_a_model_that_the_hub_cannot_give_is_one_sentence(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("owner/name", "owner/name@main", "owner/name@c0ffee", "o-1/n.2@refs/pr/1"):
        with pytest.raises(WeightsError, match="is not pinned"):
            find(name)
    with pytest.raises(
        WeightsError, match="checkpoint owner/other cannot be fetched: the hub has no such thing"
    ):
        find(f"owner/other@{COMMIT}")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        WeightsError, match="checkpoint owner/name cannot be fetched: the hub cannot be reached"
    ):
        find(f"owner/name@{COMMIT}")
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    model_settings.cache_clear()
    with pytest.raises(WeightsError, match="RAGWEAVE_OFFLINE forbids"):
        find(f"owner/name@{COMMIT}")


def test_what_is_not_set_or_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    for opened, variable in ((checkpoint.router, "ROUTER"), (checkpoint.evaluator, "EVALUATOR")):
        with pytest.raises(InputError, match=f"RAGWEAVE_{variable} is not set"):
            opened(" ")
    config = {"model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"]}
    made = folder(tmp_path / "made", config, model__safetensors=b"x", vocab__txt=b"a")
    with pytest.raises(MissingExtra, match=r"ragweave\[hf\]"):
        checkpoint.router(str(made))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"temperature": -1}', '{"max_length": 1e9}', '{"task": "chat"}', "\x00"]
)
def test_a_broken_sheet_is_explained(text: str, tmp_path: Path) -> None:
    (tmp_path / "ragweave.json").write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError, match=r"ragweave\.json of .* cannot be read"):
        read_sheet(tmp_path)


def test_labels_are_checked_against_the_vocabulary() -> None:
    assert usable_labels(("no", " Image "), KNOWN, "it") == ("none", "image")
    for labels in (("none", "table"), ("image",), ("no", "none"), ()):
        with pytest.raises(RagweaveError, match="a router decides between none, paragraph, image"):
            usable_labels(labels, KNOWN, "it")


def test_an_encoder_decoder_reads_title_and_text_as_the_evaluator_of_crag_does() -> None:
    reader = object.__new__(TextModel)
    reader.tokenizer = SimpleNamespace(all_special_tokens=["</s>"])
    for joined, title, read in (
        (True, "Pell", "Pell // a town with a harbour"),
        (True, "", "a town with a harbour"),
        (False, "Pell", "Pell: a town\nwith a harbour"),
    ):
        reader.joined = joined
        assert reader.pair("Where?</s>", Passage(title, "a town\nwith a harbour")) == ("Where? ", read)


PASSAGES = [
    Passage("Bread", "Rye flour and water."),
    Passage("Tower", "The tower is 40 metres tall."),
    Passage("", "Tea."),
]


@pytest.fixture
def server(json_server: Any, put: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("ragweave.models.rerank.BACKOFF", 0.0)
    put(rerank="api:judge-small", rerank_url=json_server.url)
    return json_server


def opened(name: str | None = None) -> Reranker:
    made = reranker(name)
    assert made is not None
    return made


@pytest.mark.parametrize("name", ["cohere", "api:", "fastembed:", "pickle:model", "hf"])
def test_the_shipped_head_is_the_default_and_an_unknown_name_says_which_there_are(name: str) -> None:
    assert reranker() is None and reranker("relevance") is None
    with pytest.raises(InputError, match="fastembed:NAME"):
        reranker(name)


def test_served_scores_follow_the_index_and_a_passage_the_server_left_out_ranks_last(
    server: Any, put: Any
) -> None:
    server.replies = [
        (200, {"results": [{"index": n, "relevance_score": x} for n, x in ((1, 0.9), (0, 0.2))]})
    ]
    assert np.argsort(-opened().scores("How tall is the tower?", PASSAGES)).tolist() == [1, 0, 2]
    path, headers, body = server.asked[0]
    assert path == "/v1/rerank" and "Authorization" not in headers
    assert json.loads(body) == {
        "model": "judge-small",
        "query": "How tall is the tower?",
        "documents": ["Bread\nRye flour and water.", "Tower\nThe tower is 40 metres tall.", "Tea."],
        "top_n": 3,
    }
    put(rerank_key="secret")
    opened().scores("q", PASSAGES)
    assert server.asked[1][1]["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "reply",
    [
        {"results": []},
        {"results": "none"},
        [],
        {"results": [{"index": 9, "relevance_score": 1.0}]},
        {"results": [{"index": 0, "relevance_score": "high"}, None, 3]},
        {"results": [{"index": "0", "relevance_score": 1.0}, {"index": 0, "relevance_score": True}]},
        b'{"results": [{"index": 0, "relevance_score": NaN}]}',
        b"<html>busy</html>",
        b"",
    ],
)
def test_a_reply_without_scores_is_an_error_in_words(server: Any, reply: Any) -> None:
    server.replies = [(200, reply)]
    with pytest.raises(ModelError, match="reranker"):
        opened().scores("q", PASSAGES)


@pytest.mark.parametrize(("status", "calls"), [(401, 1), (422, 1), (307, 1), (429, 3), (503, 3)])
def test_refusals_are_told_and_only_passing_ones_tried_again(server: Any, status: int, calls: int) -> None:
    server.replies = [(status, {"message": "no"})]
    with pytest.raises(ModelError) as raised:
        opened().scores("q", PASSAGES)
    assert len(server.asked) == calls
    assert isinstance(raised.value, ModelTransient) == (calls > 1)


def test_a_server_without_address_elsewhere_or_dead_is_an_error_in_words(
    put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.models.rerank.BACKOFF", 0.0)
    put(rerank="api:m")
    with pytest.raises(InputError, match="RAGWEAVE_RERANK_URL"):
        reranker()
    put(rerank_url="http://127.0.0.1:9")
    with pytest.raises(ModelTransient, match="cannot be reached"):
        opened().scores("q", PASSAGES)
    put(rerank_url="https://rerank.example/v1", offline="true")
    with pytest.raises(ModelError, match="not on this machine"):
        reranker()


@pytest.mark.parametrize(("name", "extra"), [("fastembed:x", "fastembed"), ("hf:x", "hf")])
def test_a_missing_package_names_its_extra(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in (
        "fastembed",
        "fastembed.rerank",
        "fastembed.rerank.cross_encoder",
        "torch",
        "transformers",
    ):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"ragweave\[{extra}\]"):
        reranker(name)


def test_fastembed_is_loaded_once_and_reads_title_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    class Encoder:
        def __init__(self, model_name: str, **options: Any) -> None:
            if model_name == "unknown":
                raise ValueError("Model unknown is not supported")
            made.append(model_name)

        def rerank(self, question: str, texts: list[str], batch_size: int) -> Iterator[float]:
            return (float("tower" in t.lower()) for t in texts)

    package = ModuleType("fastembed.rerank.cross_encoder")
    package.TextCrossEncoder = Encoder  # type: ignore[attr-defined]
    for name in ("fastembed", "fastembed.rerank"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, package.__name__, package)
    rerank._load.cache_clear()
    judge = opened("fastembed:some/cross-encoder")
    assert judge is reranker("fastembed:some/cross-encoder") and made == ["some/cross-encoder"]
    assert judge.scores("tower?", PASSAGES).tolist() == [0.0, 1.0, 0.0]
    assert judge.scores("tower?", []).shape == (0,)
    with pytest.raises(ModelError, match="not supported"):
        reranker("fastembed:unknown")


@pytest.mark.parametrize("scores", [[1.0], [1.0, 2.0, float("nan")], [[1.0], [2.0], [3.0]], [], None])
def test_a_model_that_fails_or_gives_no_score_for_each_is_an_error_in_words(scores: Any) -> None:
    with pytest.raises(ModelError, match=r"hf:x (gave no usable score|failed: TypeError)"):
        PairReranker("hf:x", lambda question, texts: scores).scores("q", PASSAGES)


def test_what_a_cross_encoder_says_about_its_own_failure_stays_as_it_is() -> None:
    def full(question: str, texts: list[str]) -> Any:
        raise ModelError("the checkpoint x failed: CUDA out of memory", "end other programs")

    with pytest.raises(
        ModelError, match=r"^the checkpoint x failed: CUDA out of memory\. End other programs\.$"
    ):
        PairReranker("hf:x", full).scores("q", PASSAGES)
