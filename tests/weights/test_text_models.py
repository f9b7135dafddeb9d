"""Encoders and a cross-encoder with real weights, by the settings that name them, through a whole library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragweave.app.api import asearch
from ragweave.corpora.ingest.run import index
from ragweave.models.embed import encoder
from ragweave.models.relevance_reading import Passage
from ragweave.models.rerank import reranker
from ragweave.models.settings import model_settings
from tests.weights.conftest import NONE

pytestmark = pytest.mark.weights

BGE = f"fastembed:BAAI/bge-small-en-v1.5@{NONE}"
MARCO = f"fastembed:Xenova/ms-marco-MiniLM-L-12-v2@{NONE}"
MINILM = f"hf:sentence-transformers/all-MiniLM-L6-v2@{NONE}"
TEXTS = {
    "ferry.md": "# Ferry\n\nThe last boat to the island leaves the pier at half past nine in the evening.\n",
    "bread.md": "# Bread\n\nThe dough rests in a cool room for sixteen hours before it is baked.\n",
    "rent.md": "# Lease\n\nThe tenant hands over four hundred euros on the first of each month.\n",
    "cat.md": "# Diary\n\nOur kitten fell ill on Sunday, and the vet gave her two pills.\n",
}
REWORDED = {
    "At what time does the final ship depart?": "ferry.md",
    "How long must the loaf wait prior to going into the oven?": "bread.md",
    "What does the apartment cost?": "rent.md",
    "Which medicine did the pet receive?": "cat.md",
}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder with the texts."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _packages(request: pytest.FixtureRequest) -> None:
    """Skip what the environment has no package for; `make test-models` has them all."""
    given = getattr(request.node, "callspec", None)
    named = given.params["name"] if given else MARCO
    pytest.importorskip("transformers" if named == MINILM else "fastembed")


@pytest.mark.parametrize("name", [BGE, MINILM], ids=["fastembed", "hf"])
async def test_an_encoder_finds_what_is_said_in_other_words(
    name: str, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_EMBED", name)
    model_settings.cache_clear()
    await index([texts])
    first = {question: (await asearch(question))[0]["locator"]["file"] for question in REWORDED}
    assert {question: Path(file).name for question, file in first.items()} == REWORDED
    made = encoder()
    vectors = made.texts([*TEXTS.values()])
    assert made.name.startswith(name) and vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    alone = np.concatenate([made.texts([text]) for text in TEXTS.values()])
    assert np.all(np.sum(alone * vectors, axis=1) > 0.98), "a vector hangs on its neighbours in a batch"


def test_a_cross_encoder_puts_the_passage_with_the_answer_first() -> None:
    made = reranker(MARCO)
    assert made is not None
    passages = [Passage("", text.partition("\n\n")[2]) for text in TEXTS.values()]
    for question, file in REWORDED.items():
        best = int(made.scores(question, passages).argmax())
        assert [*TEXTS][best] == file, question


async def test_a_cross_encoder_orders_what_a_library_found(
    texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_RERANK", MARCO)
    model_settings.cache_clear()
    await index([texts])
    [best, *_] = await asearch("At what time does the final ship depart?")
    assert "half past nine" in best["text"]
