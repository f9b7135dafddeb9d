from __future__ import annotations

import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragweave.models.embed import encoder
from ragweave.models.encoders import PrefixedEncoder, Remembering, habits, normalise
from ragweave.models.errors import MissingExtra, ModelError
from ragweave.tests.support import ScriptedServer


def test_the_embedded_encoder_puts_like_meaning_close() -> None:
    made = encoder()
    assert (made.name, made.dim) == ("wordllama-l2-256", 256)
    passages = made.texts(["The cat sat on the mat.", "Interest rates rose in March.", "Dogs and cats are pets."])
    assert passages.dtype == np.float32
    assert passages.shape == (3, 256)
    assert np.linalg.norm(passages, axis=1) == pytest.approx(1.0, abs=1e-5)
    similar = made.queries(["Where did the kitten sit?"]) @ passages.T
    assert similar[0].argmax() == 0
    assert similar[0].argmin() == 1


def test_texts_without_words_become_zeros_and_no_texts_no_rows() -> None:
    made = encoder()
    assert made.texts([]).shape == (0, 256)
    vectors = made.texts(["", "word"])
    assert not vectors[0].any()
    assert vectors[1].any()


def test_a_question_that_several_ask_at_once_is_encoded_once_and_another_does_not_wait_for_it() -> None:
    sent: list[list[str]] = []
    first, other = threading.Event(), threading.Event()

    def encode(texts: list[str]) -> NDArray[np.float32]:
        sent.append(texts)
        if texts == ["same"]:
            first.set()
            assert other.wait(10), "another question waited for this one"
        else:
            other.set()
        return np.ones((len(texts), 2), dtype=np.float32)

    remembering = Remembering(encode, 100)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(remembering, ["same"]) for _ in range(3)]
        assert first.wait(10)
        assert pool.submit(remembering, ["another"]).result(10).shape == (1, 2)
        assert all((a.result(10) == 1.0).all() for a in asked)
    assert sorted(sent) == [["another"], ["same"]]


def test_texts_are_kept_up_to_a_number_and_each_gets_its_own_vector() -> None:
    sent: list[str] = []

    def encode(texts: list[str]) -> NDArray[np.float32]:
        sent.extend(texts)
        return np.array([[float(t), 1.0] for t in texts], dtype=np.float32)

    remembering = Remembering(encode, 5)
    for n in (2, 3, 7, 1):
        texts = [str(i) for i in (*range(n), 0)]
        assert remembering(texts)[:, 0].tolist() == [float(t) for t in texts]
    assert sent.count("0") == 2, "what is kept was dropped once, with the seventh text"


def test_a_question_that_comes_again_is_not_encoded_again() -> None:
    sent: list[list[str]] = []

    def embed(batch: list[str]) -> list[list[float]]:
        sent.append(batch)
        return [[float(len(text)), 1.0] for text in batch]

    made = PrefixedEncoder("e5", "e5-small", embed)
    first = made.queries(["one", "three"])
    assert (made.queries(["three", "four", "one"])[[2, 0]] == first).all()
    assert sent == [["query: one", "query: three"], ["query: four"]]
    assert made.queries([]).shape == (0, 2)


def test_the_embedded_encoder_leaves_the_logging_of_the_program_alone() -> None:
    look = "(logging.getLogger().handlers, logging.getLogger().level)"
    made = "from ragweave.models.embed import encoder; encoder()"
    code = f"import logging; before = {look}; {made}; assert {look} == before"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_vector_does_not_depend_on_its_company_or_order() -> None:
    made = encoder()
    texts = [f"text number {i} " * (i % 7 + 1) for i in range(150)]
    together = made.texts(texts)
    for i in (0, 63, 64, 149):
        assert together[i] == pytest.approx(made.texts([texts[i]])[0], abs=1e-5)


def test_threads_get_what_one_thread_gets() -> None:
    made = encoder()
    texts = [[f"a {i} b {j}" for j in range(20)] for i in range(8)]
    alone = [made.texts(t) for t in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(made.texts, texts))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_a_text_of_a_megabyte_is_encoded_in_bounded_memory() -> None:
    assert encoder().texts(["long word " * 100_000, "short"]).shape == (2, 256)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_any_text_is_encoded_to_length_one_or_zero(texts: list[str]) -> None:
    lengths = np.linalg.norm(encoder().texts(texts), axis=1)
    assert all(abs(n - 1) < 1e-4 or n == 0 for n in lengths)


def test_lone_surrogates_are_survived() -> None:
    assert encoder().texts(["bad \ud83d half"]).shape == (1, 256)


def test_the_encoder_is_loaded_once() -> None:
    assert encoder() is encoder("wordllama")


def test_rows_that_are_not_finite_become_zeros() -> None:
    assert normalise([[3, 4], [np.nan, np.nan], [0, 0]]).tolist() == [
        [pytest.approx(0.6), pytest.approx(0.8)],
        [0, 0],
        [0, 0],
    ]


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("BAAI/bge-m3", "", ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("snowflake/snowflake-arctic-embed-m", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", ""),
        ("text-embedding-3-small", "", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
    ],
)
def test_each_family_gets_its_prefixes(name: str, query: str, passage: str) -> None:
    assert habits(name)[:2] == (query, passage)


def test_prefixes_batches_and_lengths_are_seen_to() -> None:
    batches: list[list[str]] = []

    def fake(batch: list[str]) -> list[list[float]]:
        batches.append(batch)
        return [[float(len(t)), 1.0] for t in batch]

    made = PrefixedEncoder("x", "intfloat/e5-base-v2", fake)
    assert made.texts(["a"] * 130).shape == (130, 2)
    assert [len(b) for b in batches] == [64, 64, 2]
    assert batches[0][0] == "passage: a"
    assert np.linalg.norm(made.queries(["q", ""]), axis=1) == pytest.approx(1.0)
    assert batches[-1] == ["query: q", "query:  "]


@pytest.mark.parametrize("wrong", [[[1.0, 2.0, 3.0]], [[1.0, 2.0]] * 2, [1.0, 2.0]])
def test_an_encoder_that_returns_other_shapes_is_told(wrong: Any) -> None:
    replies = [[[1.0, 2.0]], wrong]
    made = PrefixedEncoder("x", "x", lambda batch: replies.pop(0))
    assert made.dim == 2
    with pytest.raises(ModelError, match="the encoder x returned an array of shape"):
        made.texts(["one"])


def test_fastembed_is_asked_for_when_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(MissingExtra, match=r'pip install "ragweave\[fastembed\]"'):
        encoder("fastembed:BAAI/bge-small-en-v1.5")


class FakeTextEmbedding:
    made: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, model_name: str, cache_dir: str, local_files_only: bool) -> None:
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported")
        self.made.append({"model": model_name, "folder": cache_dir, "local": local_files_only})

    def embed(self, texts: list[str], batch_size: int) -> Iterator[np.ndarray]:
        yield from (np.array([len(t), 2.0, 3.0]) for t in texts)


def test_fastembed_keeps_its_weights_in_the_home_and_obeys_offline(monkeypatch: pytest.MonkeyPatch, home: Any) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", types.SimpleNamespace(TextEmbedding=FakeTextEmbedding))
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    made = encoder("fastembed:BAAI/bge-small-en-v1.5")
    assert (made.name, made.dim) == ("fastembed:BAAI/bge-small-en-v1.5", 3)
    assert FakeTextEmbedding.made[-1]["folder"] == str(home / "models" / "fastembed")
    assert FakeTextEmbedding.made[-1]["local"] is True
    with pytest.raises(ModelError, match="unknown cannot be loaded"):
        encoder("fastembed:unknown")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.0)
    with ScriptedServer() as served:
        monkeypatch.setenv("RAGWEAVE_EMBED", "nomic-embed-text")
        monkeypatch.setenv("RAGWEAVE_EMBED_URL", served.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
        yield served


def test_an_openai_compatible_server_can_encode(server: ScriptedServer) -> None:
    server.key = "none"
    made = encoder()
    assert (made.name, made.dim) == ("nomic-embed-text", 8)
    vectors = made.texts(["same words", "same words", ""])
    assert vectors[0] == pytest.approx(vectors[1])
    assert not np.allclose(made.queries(["same words"])[0], vectors[0]), "the query prefix makes a difference"


def test_a_server_that_refuses_the_key_is_told(server: ScriptedServer) -> None:
    server.key = "another"
    with pytest.raises(ModelError, match=r"refused the key \(401\)\. Set RAGWEAVE_EMBED_KEY"):
        encoder().queries(["q"])


def test_a_server_that_is_down_is_told(server: ScriptedServer) -> None:
    server.__exit__(None, None, None)
    with pytest.raises(ModelError, match=r"server of nomic-embed-text at .* cannot be reached"):
        encoder().queries(["q"])


def test_offline_refuses_an_encoder_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    with pytest.raises(ModelError, match="RAGWEAVE_OFFLINE is set and the encoder openai:text-embedding-3-small"):
        encoder("openai:text-embedding-3-small")


def test_an_unknown_provider_is_told() -> None:
    with pytest.raises(ModelError, match="there is no encoder 'nosuchprovider:model'"):
        encoder("nosuchprovider:model")
