"""A tiny encoder of transformers with random weights as the text encoder of a library."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from ragweave.models import embed
from ragweave.models.embed import encoder

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")
TEXTS = ["the moon", "which year was it founded then", "about the tide " * 60, "bread"]


@pytest.mark.parametrize("name", ["tiny", "bge-tiny"])
def test_batches_and_padding_do_not_change_a_vector(name: str, distilbert: Path, tmp_path: Path) -> None:
    shutil.copytree(distilbert, tmp_path / name)
    made = encoder(f"hf:{tmp_path / name}")
    together = made.texts(TEXTS)
    assert together.shape == (4, 32) and np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(np.concatenate([made.texts([t]) for t in TEXTS]), together, atol=1e-5)
    assert not np.allclose(together[0], together[3], atol=1e-4)


@pytest.mark.parametrize("name", ["tiny", "bge-tiny"])
def test_half_precision_gives_nearly_the_same_vectors(
    name: str, distilbert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    shutil.copytree(distilbert, tmp_path / name)
    whole = encoder(f"hf:{tmp_path / name}").texts(TEXTS)
    embed._load.cache_clear()
    monkeypatch.setattr("ragweave.models.checkpoint_files.encoding_type", lambda *_: torch.bfloat16)
    half = encoder(f"hf:{tmp_path / name}").texts(TEXTS)
    assert half.dtype == whole.dtype and not np.array_equal(half, whole)
    assert ((half * whole).sum(1) > 0.999).all()
