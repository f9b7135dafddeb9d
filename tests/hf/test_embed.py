"""A tiny encoder of transformers with random weights as the text encoder of a library."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

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
