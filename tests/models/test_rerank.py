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
from ragweave.models.relevance_reading import Passage
from ragweave.models.rerank import PairReranker, Reranker, reranker
from ragweave.models.settings import model_settings

PASSAGES = [
    Passage("Bread", "Rye flour and water."),
    Passage("Tower", "The tower is 40 metres tall."),
    Passage("", "Tea."),
]


class Server:
    """A rerank endpoint that answers as told and keeps what it was asked."""

    def __init__(self) -> None:
        self.reply: Callable[[], tuple[int, Any]] = lambda: (200, {})
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, dict(self.headers), body))
                status, answer = outer.reply()
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                if status == 307:
                    self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def scores(self, scores: dict[int, float]) -> None:
        rows = [{"index": at, "relevance_score": score} for at, score in scores.items()]
        self.reply = lambda: (200, {"results": rows})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server()
    monkeypatch.setattr("ragweave.models.rerank.BACKOFF", 0.0)
    named(monkeypatch, rerank="api:judge-small", rerank_url=made.url)
    yield made
    made.http.shutdown()
    made.http.server_close()


def named(monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"RAGWEAVE_{name.upper()}", value)
    model_settings.cache_clear()


def opened(name: str | None = None) -> Reranker:
    made = reranker(name)
    assert made is not None
    return made


@pytest.mark.parametrize("name", ["cohere", "api:", "fastembed:", "pickle:model", "hf"])
def test_the_shipped_head_is_the_default_and_an_unknown_name_says_which_there_are(name: str) -> None:
    assert reranker() is None and reranker("relevance") is None
    with pytest.raises(InputError, match="fastembed:NAME"):
        reranker(name)


def test_served_scores_follow_the_index_and_a_passage_the_server_left_out_ranks_last(server: Server) -> None:
    server.scores({1: 0.9, 0: 0.2})
    assert np.argsort(-opened().scores("How tall is the tower?", PASSAGES)).tolist() == [1, 0, 2]
    path, _, body = server.asked[0]
    assert path == "/v1/rerank"
    assert body == {
        "model": "judge-small",
        "query": "How tall is the tower?",
        "documents": ["Bread\nRye flour and water.", "Tower\nThe tower is 40 metres tall.", "Tea."],
        "top_n": 3,
    }


def test_the_key_goes_to_the_server_and_only_where_it_is_set(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.scores({0: 1})
    opened().scores("q", PASSAGES[:1])
    named(monkeypatch, rerank_key="secret")
    opened().scores("q", PASSAGES[:1])
    assert [asked[1].get("Authorization") for asked in server.asked] == [None, "Bearer secret"]


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
def test_a_reply_without_scores_is_an_error_in_words(server: Server, reply: Any) -> None:
    server.reply = lambda: (200, reply)
    with pytest.raises(ModelError, match="reranker"):
        opened().scores("q", PASSAGES)


@pytest.mark.parametrize(("status", "calls"), [(401, 1), (422, 1), (307, 1), (429, 3), (503, 3)])
def test_refusals_are_told_and_only_passing_ones_tried_again(server: Server, status: int, calls: int) -> None:
    server.reply = lambda: (status, {"message": "no"})
    with pytest.raises(ModelError) as raised:
        opened().scores("q", PASSAGES)
    assert len(server.asked) == calls
    assert isinstance(raised.value, ModelTransient) == (calls > 1)


def test_a_server_without_address_elsewhere_or_dead_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragweave.models.rerank.BACKOFF", 0.0)
    named(monkeypatch, rerank="api:m")
    with pytest.raises(InputError, match="RAGWEAVE_RERANK_URL"):
        reranker()
    named(monkeypatch, rerank_url="http://127.0.0.1:9")
    with pytest.raises(ModelTransient, match="cannot be reached"):
        opened().scores("q", PASSAGES)
    named(monkeypatch, rerank_url="https://rerank.example/v1", offline="true")
    with pytest.raises(ModelError, match="not on this machine"):
        reranker()


@pytest.mark.parametrize(("name", "extra"), [("fastembed:x", "fastembed"), ("hf:x", "hf")])
def test_a_missing_package_names_its_extra(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("fastembed", "fastembed.rerank", "fastembed.rerank.cross_encoder", "torch", "transformers"):
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


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_a_cross_encoder_is_opened_as_checkpoints_are_and_its_raw_scores_count(
    labels: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Reader:
        model = SimpleNamespace(config=SimpleNamespace(num_labels=labels))

        def read(self, questions: list[str], texts: list[str]) -> np.ndarray[Any, Any]:
            assert questions == ["tower?"] * len(texts)
            good = np.array([float("tower" in t.lower()) for t in texts])
            return good[:, None] if labels == 1 else np.stack([np.zeros(len(good)), good], axis=1)

    monkeypatch.setattr(rerank, "torch_and_transformers", lambda what: None)
    monkeypatch.setattr(rerank, "classifier", lambda folder: Reader())
    rerank._load.cache_clear()
    if labels == 3:
        with pytest.raises(ModelError, match="3 labels"):
            reranker(f"hf:{tmp_path}")
    else:
        assert opened(f"hf:{tmp_path}").scores("tower?", PASSAGES).tolist() == [0.0, 1.0, 0.0]
