from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ragweave.models import rerank
from ragweave.models.errors import InputError, MissingExtra, ModelError, ModelTransient
from ragweave.models.relevance_reading import Passage
from ragweave.models.rerank import PairReranker, Reranker, reranker

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
