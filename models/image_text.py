"""Image-text encoders: pictures and texts in one space. None ships; one setting names one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragweave.models.embed import normalise
from ragweave.models.errors import InputError, MissingExtra, ModelError
from ragweave.models.settings import ModelSettings, model_settings
from ragweave.models.text import clip

Pixels = NDArray[np.uint8]
"""RGB, shape (height, width, 3)."""
Vectors = NDArray[np.float32]
"""(n, dim), each row of length 1."""

BATCH = 16


class ImageEncoder(Protocol):
    """Puts pictures and texts into one space. Blocking; safe among threads."""

    @property
    def name(self) -> str:
        """Identifies the space: vectors of encoders with different names never meet."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def images(self, images: Sequence[Pixels]) -> Vectors:
        """Encode pictures, RGB of shape (height, width, 3) each; returns (n, dim)."""
        ...

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; returns (n, dim)."""
        ...


class TwoTowers:
    """An encoder of two functions, with its batches, checks and lengths.

    Args:
        name: identifies the space.
        images: turns a batch of PIL images into vectors.
        texts: turns a batch of texts into vectors.
    """

    def __init__(self, name: str, images: Callable[[list[Any]], Any], texts: Callable[[list[str]], Any]) -> None:
        self.name = name
        self._images = images
        self._texts = texts
        self._lock = threading.Lock()
        self._dim = 0

    @property
    def dim(self) -> int:
        """Length of a vector, learnt from the first one."""
        if not self._dim:
            self.texts(["dimension"])
        return self._dim

    def images(self, images: Sequence[Pixels]) -> Vectors:
        """Encode pictures."""
        from PIL import Image

        return self._run(images, lambda batch: self._images([Image.fromarray(i) for i in batch]))

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode texts."""
        return self._run([t if t.strip() else " " for t in texts], self._texts)

    def _run(self, given: Sequence[Any], encode: Callable[[list[Any]], Any]) -> Vectors:
        parts = []
        for start in range(0, len(given), BATCH):
            batch = list(given[start : start + BATCH])
            try:
                with self._lock:
                    found = np.asarray(encode(batch), dtype=np.float32)
            except Exception as error:
                raise ModelError(
                    f"the image encoder {self.name} failed: {type(error).__name__}: {clip(str(error), 200)}",
                    "check RAGWEAVE_IMAGE_TEXT",
                ) from error
            if found.ndim != 2 or len(found) != len(batch) or (self._dim and found.shape[1] != self._dim):
                raise ModelError(
                    f"the image encoder {self.name} returned an array of shape {found.shape} for {len(batch)} inputs",
                    "check RAGWEAVE_IMAGE_TEXT",
                )
            self._dim = int(found.shape[1])
            parts.append(normalise(found))
        return np.concatenate(parts) if parts else np.zeros((0, self._dim), dtype=np.float32)


def image_encoder(name: str | None = None) -> ImageEncoder | None:
    """Return the image-text encoder of that name, loaded once per process; None where none is named.

    Args:
        name: `fastembed:NAME`, `hf:OWNER/NAME[@REVISION]` or `hf:FOLDER`; the setting's when not given.

    Raises:
        InputError: the name is of neither form.
        MissingExtra: its package is not installed.
        ModelError: it cannot be loaded.
        WeightsError: it cannot be downloaded, or its files are not what they should be.
    """
    settings = model_settings()
    wanted = settings.image_text if name is None else name
    if not wanted:
        return None
    with _loading:
        return _load(wanted, settings)


_loading = threading.Lock()


@lru_cache(maxsize=2)
def _load(name: str, settings: ModelSettings) -> ImageEncoder:
    kind, _, model = name.partition(":")
    if not model or kind not in ("fastembed", "hf"):
        raise InputError(
            f"RAGWEAVE_IMAGE_TEXT cannot be used: {name!r}", "name fastembed:MODEL, or hf:MODEL or hf:FOLDER"
        )
    return _fastembed(model, settings) if kind == "fastembed" else _transformers(model)


FASTEMBED = {"Qdrant/clip-ViT-B-32-vision": "Qdrant/clip-ViT-B-32-text"}
"""Vision models of fastembed and the text models of their spaces."""


def _fastembed(model: str, settings: ModelSettings) -> ImageEncoder:
    try:
        from fastembed import ImageEmbedding, TextEmbedding
    except ImportError as error:
        raise MissingExtra(f"the image encoder fastembed:{model}", "fastembed") from error
    text = FASTEMBED.get(model, model.replace("-vision", "-text"))
    folder = str(settings.weights / "fastembed")
    try:
        seeing = ImageEmbedding(model_name=model, cache_dir=folder, local_files_only=settings.offline)
        reading = TextEmbedding(model_name=text, cache_dir=folder, local_files_only=settings.offline)
    except Exception as error:
        hint = "unset RAGWEAVE_OFFLINE once to download it" if settings.offline else "check the name and the network"
        raise ModelError(
            f"the image encoder {model} cannot be loaded: {type(error).__name__}: {clip(str(error), 200)}", hint
        ) from error
    return TwoTowers(
        f"fastembed:{model}",
        lambda batch: list(seeing.embed(batch, batch_size=BATCH)),
        lambda batch: list(reading.embed(batch, batch_size=BATCH)),
    )


def _transformers(model: str) -> ImageEncoder:
    """Open CLIP, SigLIP or another model of transformers with `get_image_features` and `get_text_features`."""
    from ragweave.models.checkpoint_files import find, quiet, read_config, torch_and_transformers

    torch, transformers = torch_and_transformers(f"the image encoder hf:{model}")
    folder = find(model)
    read_config(folder)
    try:
        with quiet(transformers.utils.logging):
            common = {"local_files_only": True, "trust_remote_code": False}
            net = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, dtype=torch.float32, **common)
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **common)
            pictures = transformers.AutoImageProcessor.from_pretrained(folder, **common)
        net = net.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        longest = int(net.config.text_config.max_position_embeddings)
        padding = "max_length" if "siglip" in net.config.model_type else True  # as SigLIP was trained
        seeing, reading = net.get_image_features, net.get_text_features
    except Exception as error:
        raise ModelError(
            f"the image encoder {model} cannot be loaded: {type(error).__name__}: {clip(str(error), 200)}",
            "name a CLIP or SigLIP model that was saved as safetensors",
        ) from error

    def images(batch: list[Any]) -> Any:
        with torch.inference_mode():
            return _rows(seeing(**pictures(images=batch, return_tensors="pt").to(net.device)))

    def texts(batch: list[str]) -> Any:
        with torch.inference_mode():
            tokens = tokenizer(batch, padding=padding, truncation=True, max_length=longest, return_tensors="pt")
            return _rows(reading(**tokens.to(net.device)))

    return TwoTowers(f"hf:{model}", images, texts)


def _rows(found: Any) -> Any:
    # Newer versions of transformers return the features inside an output object.
    return getattr(found, "pooler_output", found).float().cpu().numpy()
