"""A tiny CLIP and a tiny X-CLIP with random weights: pictures, or clips, and texts in one space."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragweave.models import image_text as see
from ragweave.models.errors import ModelError
from ragweave.models.image_text import image_encoder

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")
RNG = np.random.default_rng(3)
PICTURES = [RNG.integers(0, 255, size, dtype=np.uint8) for size in ((40, 60, 3), (60, 40, 3), (5, 5, 3))]


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel

    from tests.hf.conftest import bert_tokenizer  # type: ignore[import-not-found]

    torch.manual_seed(0)
    tokenizer = bert_tokenizer()
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = {
        **size,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 16,
        "eos_token_id": 3,
        "bos_token_id": 2,
    }
    config = CLIPConfig(
        text_config={**text, "pad_token_id": 0}, vision_config={**size, "image_size": 32, "patch_size": 8},
        projection_dim=16,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("clip")
    CLIPModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    side = {"height": 32, "width": 32}
    CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=side).save_pretrained(folder)
    return folder


def vectors(name: str) -> tuple[Any, Any]:
    see._load.cache_clear()
    found = image_encoder(name)
    assert found is not None and found.dim == 16
    return found.images(PICTURES), found.texts(["what colour is the picture", "the moon " * 50, ""])


@pytest.mark.parametrize("kind", ["clip", "video"])
def test_half_precision_gives_nearly_the_same_vectors(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    name = f"hf:{request.getfixturevalue(kind)}"
    monkeypatch.setattr("ragweave.models.checkpoint_files.encoding_type", lambda *_: torch.float32)
    whole = vectors(name)
    monkeypatch.setattr("ragweave.models.checkpoint_files.encoding_type", lambda *_: torch.bfloat16)
    for half, found in zip(vectors(name), whole, strict=True):
        assert not np.array_equal(half, found) and ((half * found).sum(1) > 0.99).all()
    see._load.cache_clear()


def test_a_model_that_is_no_image_text_encoder_is_refused(clip: Path, tmp_path: Path) -> None:
    import torch
    from transformers import DistilBertModel

    from tests.hf.conftest import bert_tokenizer, distilbert_config  # type: ignore[import-not-found]

    torch.manual_seed(0)
    DistilBertModel(distilbert_config()).save_pretrained(tmp_path)
    bert_tokenizer().save_pretrained(tmp_path)
    shutil.copy(clip / "preprocessor_config.json", tmp_path)
    with pytest.raises(ModelError, match="CLIP or SigLIP"):
        image_encoder(f"hf:{tmp_path}")


@pytest.fixture(scope="module")
def video(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder of clips of four frames, with the tokeniser and the processor of the other one."""
    import torch
    from transformers import XCLIPConfig, XCLIPModel

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("video")
    shutil.copytree(clip, folder, dirs_exist_ok=True)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    deep = {"mit_hidden_size": 16, "mit_intermediate_size": 32, "mit_num_hidden_layers": 1}
    deep |= {"mit_num_attention_heads": 2}
    seen = {**size, **deep, "image_size": 32, "patch_size": 8, "num_frames": 4}
    told = {**size, "vocab_size": 90, "max_position_embeddings": 16, "eos_token_id": 3, "bos_token_id": 2}
    config = XCLIPConfig(text_config={**told, "pad_token_id": 0}, vision_config=seen, projection_dim=16)
    XCLIPModel(config).save_pretrained(folder)
    return folder


def test_an_encoder_of_video_sees_the_frames_of_a_clip_together(video: Path) -> None:
    see._load.cache_clear()
    found = image_encoder(f"hf:{video}")
    assert found is not None and found.frames == 4
    clips = RNG.integers(0, 255, (3, 4, 40, 60, 3), dtype=np.uint8)
    vectors = found.images(list(clips))
    assert vectors.shape == (3, 16) and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    alone = np.concatenate([found.images([c]) for c in clips])
    assert np.allclose(alone, vectors, atol=1e-4)
    still = found.images([np.repeat(clips[0][:1], 4, axis=0), clips[0][0]])
    assert np.allclose(still[0], still[1], atol=1e-4) and not np.allclose(still[0], vectors[0], atol=1e-4)
    assert found.texts(["what colour is the picture"]).shape == (1, 16)
