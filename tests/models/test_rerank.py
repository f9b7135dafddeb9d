from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragweave.models import rerank
from ragweave.models.errors import InputError, MissingExtra, ModelError, ModelTransient
from ragweave.models.relevance_features import Passage
from ragweave.models.rerank import PairReranker, Reranker, reranker
from ragweave.models.settings import model_settings

PASSAGES = [
    Passage("Bread", "Rye flour and water."),
    Passage("Tower", "The tower is 40 metres tall."),
    Passage("", "Tea."),
]
Reply = Callable[[dict[str, Any]], tuple[int, Any]]


class Server:
    """A rerank endpoint that answers as told and keeps what it was asked."""

    def __init__(self) -> None:
        self.reply: Reply = lambda body: (200, {"results": []})
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, dict(self.headers), body))
                status, answer = outer.reply(body)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                if status in (301, 307):
                    self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self._httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._httpd.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._httpd.server_port}/v1"

    def close(self) -> None:
        self._httpd.shutdown()
        self._httpd.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server()
    monkeypatch.setenv("RAGWEAVE_RERANK", "api:judge-small")
    monkeypatch.setenv("RAGWEAVE_RERANK_URL", made.url)
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    model_settings.cache_clear()
    yield made
    made.close()


def scored(scores: dict[int, float]) -> Reply:
    """Answer with these scores by index."""
    rows = [{"index": at, "relevance_score": score} for at, score in scores.items()]
    return lambda body: (200, {"results": rows})


def named(monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"RAGWEAVE_{name.upper()}", value)
    model_settings.cache_clear()


def opened(name: str | None = None) -> Reranker:
    made = reranker(name)
    assert made is not None
    return made


def test_shipped_head_is_the_default() -> None:
    assert reranker() is None
    assert reranker("relevance") is None


@pytest.mark.parametrize("name", ["cohere", "api:", "fastembed:", "pickle:model", "hf"])
def test_unknown_name_says_which_there_are(name: str) -> None:
    with pytest.raises(InputError, match="fastembed:NAME"):
        reranker(name)


def test_served_scores_follow_the_index(server: Server) -> None:
    server.reply = scored({1: 0.9, 0: 0.2, 2: 0.1})
    judge = opened()
    assert judge.scores("How tall is the tower?", PASSAGES).tolist() == [0.2, 0.9, 0.1]
    path, _, body = server.asked[0]
    assert path == "/v1/rerank"
    assert body["model"] == "judge-small"
    assert body["query"] == "How tall is the tower?"
    assert body["documents"] == ["Bread\nRye flour and water.", "Tower\nThe tower is 40 metres tall.", "Tea."]
    assert body["top_n"] == 3


def test_key_goes_to_the_server_and_only_where_it_is_set(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.reply = lambda body: (200, {"results": [{"index": 0, "relevance_score": 1}]})
    opened().scores("q", PASSAGES[:1])
    named(monkeypatch, rerank_key="secret")
    opened().scores("q", PASSAGES[:1])
    assert [asked[1].get("Authorization") for asked in server.asked] == [None, "Bearer secret"]


def test_passage_the_server_left_out_ranks_last(server: Server) -> None:
    server.reply = lambda body: (
        200,
        {"results": [{"index": 2, "relevance_score": -4.0}, {"index": 0, "relevance_score": -7}]},
    )
    judge = opened()
    assert np.argsort(-judge.scores("q", PASSAGES)).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "reply",
    [
        {"results": []},
        {"results": "none"},
        {},
        [],
        {"results": [{"index": 9, "relevance_score": 1.0}]},
        {"results": [{"index": 0, "relevance_score": "high"}, None, 3]},
        {"results": [{"index": "0", "relevance_score": 1.0}]},
        {"results": [{"index": 0, "relevance_score": True}]},
        b'{"results": [{"index": 0, "relevance_score": NaN}]}',
        b"<html>busy</html>",
        b"",
    ],
)
def test_reply_without_scores_is_an_error_in_words(server: Server, reply: Any) -> None:
    server.reply = lambda body: (200, reply)
    judge = opened()
    with pytest.raises(ModelError, match="reranker"):
        judge.scores("q", PASSAGES)


@pytest.mark.parametrize(("status", "calls"), [(401, 1), (404, 1), (422, 1), (307, 1), (429, 3), (503, 3)])
def test_refusals_are_told_and_only_passing_ones_tried_again(server: Server, status: int, calls: int) -> None:
    server.reply = lambda body: (status, {"message": "no"})
    judge = opened()
    with pytest.raises(ModelError) as raised:
        judge.scores("q", PASSAGES)
    assert len(server.asked) == calls
    assert isinstance(raised.value, ModelTransient) == (calls > 1)


def test_server_that_recovers_is_asked_again(server: Server) -> None:
    replies = iter([(503, {}), (200, {"results": [{"index": 0, "relevance_score": 1.0}]})])
    server.reply = lambda body: next(replies)
    judge = opened()
    assert judge.scores("q", PASSAGES[:1]).tolist() == [1.0]


def test_dead_server_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    named(monkeypatch, rerank="api:m", rerank_url="http://127.0.0.1:9")
    judge = opened()
    with pytest.raises(ModelTransient, match="cannot be reached"):
        judge.scores("q", PASSAGES)


def test_address_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    named(monkeypatch, rerank="api:m")
    with pytest.raises(InputError, match="RAGWEAVE_RERANK_URL"):
        reranker()


def test_offline_leaves_other_machines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    named(monkeypatch, rerank="api:m", rerank_url="https://rerank.example/v1", offline="true")
    with pytest.raises(ModelError, match="not on this machine"):
        reranker()


@pytest.mark.parametrize(("name", "extra"), [("fastembed:x", "fastembed"), ("hf:x", "hf")])
def test_missing_package_names_its_extra(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("fastembed", "fastembed.rerank", "fastembed.rerank.cross_encoder", "torch", "transformers"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"ragweave\[{extra}\]"):
        reranker(name)


def fake_fastembed(monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
    package = ModuleType("fastembed.rerank.cross_encoder")
    package.TextCrossEncoder = model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", ModuleType("fastembed"))
    monkeypatch.setitem(sys.modules, "fastembed.rerank", ModuleType("fastembed.rerank"))
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", package)
    rerank._load.cache_clear()


def test_fastembed_is_loaded_once_and_reads_title_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []

    class Encoder:
        def __init__(self, **options: Any) -> None:
            made.append(options)

        def rerank(self, question: str, texts: list[str], batch_size: int) -> Iterator[float]:
            return (float("tower" in t.lower()) for t in texts)

    fake_fastembed(monkeypatch, Encoder)
    judge = opened("fastembed:some/cross-encoder")
    assert judge is reranker("fastembed:some/cross-encoder")
    assert judge.scores("tower?", PASSAGES).tolist() == [0.0, 1.0, 0.0]
    assert judge.scores("tower?", []).shape == (0,)
    assert len(made) == 1
    assert made[0]["model_name"] == "some/cross-encoder"


def test_model_that_cannot_be_loaded_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: Any) -> None:
        raise ValueError("Model x is not supported")

    fake_fastembed(monkeypatch, refuse)
    with pytest.raises(ModelError, match="not supported"):
        reranker("fastembed:x")


@pytest.mark.parametrize("scores", [[1.0], [1.0, 2.0, float("nan")], [[1.0], [2.0], [3.0]], []])
def test_scores_that_are_none_are_refused(scores: list[Any]) -> None:
    with pytest.raises(ModelError, match="no usable score"):
        PairReranker("hf:x", lambda question, texts: scores).scores("q", PASSAGES)


def test_failure_inside_a_model_is_an_error_in_words() -> None:
    def fail(question: str, texts: list[str]) -> list[float]:
        raise RuntimeError("out of memory")

    with pytest.raises(ModelError, match="out of memory"):
        PairReranker("hf:x", fail).scores("q", PASSAGES)


def fake_checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, labels: int) -> None:
    """Let a folder hold a classifier that looks for the word tower."""

    class Reader:
        model = SimpleNamespace(config=SimpleNamespace(num_labels=labels))

        def read(self, questions: list[str], texts: list[str]) -> np.ndarray[Any, Any]:
            assert questions == ["tower?"] * len(texts)
            good = np.array([float("tower" in t.lower()) for t in texts])
            return good[:, None] if labels == 1 else np.stack([np.zeros(len(good)), good], axis=1)

    monkeypatch.setattr(rerank, "torch_and_transformers", lambda what: None)
    monkeypatch.setattr(rerank, "classifier", lambda folder: Reader())
    rerank._load.cache_clear()


@pytest.mark.parametrize("labels", [1, 2])
def test_a_cross_encoder_is_opened_as_checkpoints_are_and_its_raw_scores_count(
    labels: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_checkpoint(monkeypatch, tmp_path, labels)
    judge = opened(f"hf:{tmp_path}")
    assert judge.scores("tower?", PASSAGES).tolist() == [0.0, 1.0, 0.0]


def test_classifier_of_three_labels_is_no_reranker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_checkpoint(monkeypatch, tmp_path, 3)
    with pytest.raises(ModelError, match="3 labels"):
        reranker(f"hf:{tmp_path}")
