"""Image-text encoders: named by one setting, checked, and fetched from the hub like any other model."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragweave.models import image_text as see
from ragweave.models.errors import InputError, MissingExtra, ModelError
from ragweave.models.image_text import ImageEncoder, image_encoder

PICTURES = [np.full((4, 6, 3), n, dtype=np.uint8) for n in (10, 200)]


@pytest.fixture
def chosen(put: Any) -> Any:
    see._load.cache_clear()
    yield lambda name, **more: put(image_text=name, **more)
    see._load.cache_clear()


@pytest.mark.parametrize("name", ["clip", "openai:clip", "hf:", ":x", "fastembed:"])
def test_a_name_of_no_known_form_is_refused(chosen: Any, name: str) -> None:
    chosen(name)
    with pytest.raises(InputError, match="RAGWEAVE_IMAGE_TEXT"):
        image_encoder()


@pytest.mark.parametrize(
    ("name", "extra"), [("fastembed:x/clip-vision", "fastembed"), ("hf:owner/model", "hf")]
)
def test_a_missing_package_names_its_extra(
    chosen: Any, monkeypatch: pytest.MonkeyPatch, name: str, extra: str
) -> None:
    for module in ("fastembed", "torch"):
        monkeypatch.setitem(sys.modules, module, None)
    chosen(name)
    with pytest.raises(MissingExtra, match=rf"ragweave\[{extra}\]"):
        image_encoder()


def test_fastembed_pairs_the_two_towers_of_a_space(chosen: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str, bool]] = []

    class Tower:
        def __init__(self, model_name: str, cache_dir: str, local_files_only: bool) -> None:
            made.append((model_name, Path(cache_dir).name, local_files_only))

        def embed(self, batch: list[Any], batch_size: int) -> Any:
            return iter([np.array([3.0, 4.0]) for _ in batch])

    monkeypatch.setitem(sys.modules, "fastembed", SimpleNamespace(ImageEmbedding=Tower, TextEmbedding=Tower))
    chosen("fastembed:Qdrant/clip-ViT-B-32-vision", offline="true")
    found = image_encoder()
    assert found is not None and found is image_encoder()
    assert made == [
        ("Qdrant/clip-ViT-B-32-vision", "fastembed", True),
        ("Qdrant/clip-ViT-B-32-text", "fastembed", True),
    ]
    assert found.name == "fastembed:Qdrant/clip-ViT-B-32-vision" and found.dim == 2
    assert np.allclose(found.images(PICTURES), [[0.6, 0.8]] * 2) and np.allclose(
        found.texts(["a"]), [[0.6, 0.8]]
    )


@pytest.mark.parametrize(
    "wrong", [lambda b: np.ones(3), lambda b: np.ones((1, 3)), lambda b: 1 / 0, lambda b: ["x"] * len(b)]
)
def test_an_encoder_that_fails_or_returns_nonsense_is_a_sentence(wrong: Any) -> None:
    with pytest.raises(ModelError, match="image encoder t"):
        ImageEncoder("t", wrong, wrong).images(PICTURES)
