from __future__ import annotations

import sys
import threading
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragweave.models.embed import encoder
from ragweave.models.encoders import PrefixedEncoder, Remembering, habits, normalise
from ragweave.models.errors import MissingExtra, ModelError
from ragweave.models.static_embed import WordLlamaEncoder
from ragweave.tests.support import ScriptedServer

TEXTS = (
    st.text(st.sampled_from("abT é中文\n\t \u2581.,-’0😀<s>/"))
    | st.text()
    | st.sampled_from(["<s>", "a</s> b", "  a", "\n", "bad \ud83d half", "long word " * 20_000])
)


def test_the_embedded_encoder_puts_like_meaning_close_and_is_loaded_once() -> None:
    made = encoder()
    assert made is encoder("wordllama") and (made.name, made.dim) == ("wordllama-l2-256", 256)
    passages = made.texts(
        ["The cat sat on the mat.", "Interest rates rose in March.", "Dogs and cats are pets."]
    )
    assert (passages.dtype, passages.shape) == (np.float32, (3, 256))
    similar = made.queries(["Where did the kitten sit?"]) @ passages.T
    assert (similar[0].argmax(), similar[0].argmin()) == (0, 1)


@cache
def theirs() -> Any:
    import wordllama

    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


@given(st.lists(TEXTS, max_size=6))
def test_vectors_are_those_of_the_package_whatever_stands_beside_them(texts: list[str]) -> None:
    able = [t.encode("utf-8", "replace").decode()[:8_000] for t in texts]
    expected = [theirs().embed([t])[0] for t in able]
    found = encoder("wordllama").texts(texts)
    assert found.shape == (len(texts), 256)
    if texts:
        assert np.abs(found - normalise(np.stack(expected))).max() < 1e-5


def test_remembered_words_are_bounded_and_long_runs_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    made = WordLlamaEncoder()
    made.texts(["x" * 200 + " 青山茶什么时候采摘" * 8])
    assert all(len(word) <= 40 for word in made._pieces)
    monkeypatch.setattr("ragweave.models.static_embed._KEPT", 3)
    before = made.texts(["one two three four five six"])
    made.texts(["seven"])
    assert len(made._pieces) == 1
    assert np.array_equal(made.texts(["one two three four five six"]), before)


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
    remembering = Remembering(
        lambda texts: sent.extend(texts) or np.array([[float(t), 1.0] for t in texts]), 5
    )
    for n in (2, 3, 7, 1):
        texts = [str(i) for i in (*range(n), 0)]
        assert remembering(texts)[:, 0].tolist() == [float(t) for t in texts]
    assert sent.count("0") == 2, "what is kept was dropped once, with the seventh text"


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_each_family_gets_its_prefixes(name: str, query: str, passage: str) -> None:
    assert habits(name)[:2] == (query, passage)


def test_prefixes_batches_lengths_and_questions_that_come_again_are_seen_to() -> None:
    batches: list[list[str]] = []

    def fake(batch: list[str]) -> list[list[float]]:
        batches.append(batch)
        return [[float(len(t)), 1.0] if t != "passage: nan" else [np.nan, np.inf] for t in batch]

    made = PrefixedEncoder("x", "intfloat/e5-base-v2", fake)
    assert made.texts(["a"] * 130).shape == (130, 2)
    assert [len(b) for b in batches] == [64, 64, 2] and batches[0][0] == "passage: a"
    assert np.linalg.norm(made.queries(["q", ""]), axis=1) == pytest.approx(1.0)
    made.queries(["new", "q"])
    assert batches[-2:] == [["query: q", "query:  "], ["query: new"]]
    assert not made.texts(["nan"]).any() and made.queries([]).shape == (0, 2)


def test_small_batches_hold_texts_of_like_length_and_each_text_gets_its_own_vector() -> None:
    batches: list[list[str]] = []

    def fake(batch: list[str]) -> list[list[float]]:
        batches.append(batch)
        return [[float(len(t)), 1.0] for t in batch]

    made = PrefixedEncoder("x", "x", fake, 2)
    texts = ["x" * n for n in (900, 3, 800, 1, 7)]
    assert np.allclose(made.texts(texts), normalise(np.array([[len(t), 1.0] for t in texts])))
    assert [[len(t) for t in batch] for batch in batches] == [[1, 3], [7, 800], [900]]


def test_an_encoder_that_returns_other_shapes_is_told() -> None:
    for wrong in ([[1.0, 2.0, 3.0]], [[1.0, 2.0]] * 2, [1.0, 2.0]):
        replies: list[Any] = [[[1.0, 2.0]], wrong]
        made = PrefixedEncoder("x", "x", lambda batch, replies=replies: replies.pop(0))
        assert made.dim == 2
        with pytest.raises(ModelError, match="the encoder x returned an array of shape"):
            made.texts(["one"])


def test_fastembed_keeps_its_weights_in_the_home_obeys_offline_and_is_named_when_missing(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    made: list[tuple[str, bool]] = []

    class Fake:
        def __init__(self, model_name: str, cache_dir: str, local_files_only: bool) -> None:
            if model_name == "unknown":
                raise ValueError("Model unknown is not supported")
            made.append((cache_dir, local_files_only))

        def embed(self, texts: list[str], batch_size: int) -> Iterator[np.ndarray]:
            yield from (np.array([len(t), 2.0, 3.0]) for t in texts)

    monkeypatch.setitem(sys.modules, "fastembed", types.SimpleNamespace(TextEmbedding=Fake))
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    found = encoder("fastembed:BAAI/bge-small-en-v1.5")
    assert (found.name, found.dim) == ("fastembed:BAAI/bge-small-en-v1.5", 3)
    assert made == [(str(home / "models" / "fastembed"), True)]
    with pytest.raises(ModelError, match="unknown cannot be loaded"):
        encoder("fastembed:unknown")
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ragweave\[fastembed\]'"):
        encoder("fastembed:BAAI/bge-large-en-v1.5")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.0)
    with ScriptedServer() as served:
        monkeypatch.setenv("RAGWEAVE_EMBED", "nomic-embed-text")
        monkeypatch.setenv("RAGWEAVE_EMBED_URL", served.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
        yield served


def test_an_openai_compatible_server_can_encode_and_its_failures_are_told(server: ScriptedServer) -> None:
    server.key = "none"
    made = encoder()
    assert (made.name, made.dim) == ("nomic-embed-text", 8)
    vectors = made.texts(["same words", "same words", ""])
    assert vectors[0] == pytest.approx(vectors[1])
    assert not np.allclose(made.queries(["same words"])[0], vectors[0]), "the query prefix makes a difference"
    server.key = "another"
    with pytest.raises(ModelError, match=r"refused the key \(401\)\. Set RAGWEAVE_EMBED_KEY"):
        made.queries(["q"])
    server.__exit__(None, None, None)
    with pytest.raises(ModelError, match=r"server of nomic-embed-text at .* cannot be reached"):
        made.queries(["q"])


def test_an_encoder_elsewhere_and_an_unknown_provider_are_told(put: Any) -> None:
    with pytest.raises(ModelError, match="there is no encoder 'nosuchprovider:model'"):
        encoder("nosuchprovider:model")
    put(offline="true")
    with pytest.raises(
        ModelError, match="RAGWEAVE_OFFLINE is set and the encoder openai:text-embedding-3-small"
    ):
        encoder("openai:text-embedding-3-small")
