"""Encode pictures or clips, and texts, in one vector space.

No image-text encoder ships with the package; a setting names one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from ragweave.models.checkpoint_files import LOCAL, load_encoder, quiet, torch_and_transformers
from ragweave.models.encoders import Batched, Vectors
from ragweave.models.errors import InputError
from ragweave.models.failures import loading
from ragweave.models.fastembed_files import opened
from ragweave.models.pictures import Pixels
from ragweave.models.settings import ModelSettings, model_settings

BATCH = 16


class ImageEncoder(Batched):
    """Encode pictures and texts in one space by two functions. Blocking; thread-safe.

    `images` encodes a batch of clips, each a list of PIL images. `texts` encodes a batch of texts. The
    encoder reads `frames` images of a clip together; an encoder of pictures reads one.
    """

    kind, setting, batch = "image encoder", "RAGWEAVE_IMAGE_TEXT", BATCH

    def __init__(
        self,
        name: str,
        images: Callable[[list[list[Any]]], Any],
        texts: Callable[[list[str]], Any],
        frames: int = 1,
    ) -> None:
        super().__init__(name)
        self._images, self._texts, self.frames = images, texts, frames
        self._lock = threading.Lock()

    def images(self, images: Sequence[Pixels]) -> Vectors:
        """Encode RGB pictures (height, width, 3) or clips (frames, height, width, 3); return (n, dim)."""
        from PIL import Image

        def clips(batch: list[Pixels]) -> list[list[Any]]:
            out: list[list[Any]] = []
            for pixels in batch:
                frames = pixels if pixels.ndim == 4 else pixels[None]
                out.append([Image.fromarray(frame) for frame in frames])
            return out

        with self._lock:
            return self.run(images, lambda batch: self._images(clips(batch)))

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; return (n, dim)."""
        with self._lock:
            return self.run([t if t.strip() else " " for t in texts], self._texts)


def image_encoder(name: str | None = None) -> ImageEncoder | None:
    """Return the image-text encoder of a name, loaded once per process; None without a name.

    The name is `fastembed:NAME`, `hf:OWNER/NAME@COMMIT` or `hf:FOLDER`; by default the one in the settings.
    `@COMMIT+COMMIT` pins a model of fastembed and the text model of its space.

    Raises:
        InputError: if the name has another form.
        MissingExtra, ModelError, WeightsError: if its package or its weights are missing.
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


def text_model(vision: str) -> str:
    """Return the text model of fastembed that shares a vision model's space."""
    return vision.replace("-vision", "-text")


def _fastembed(model: str, settings: ModelSettings) -> ImageEncoder:
    name, _, commits = model.partition("@")
    seen, _, read = commits.partition("+")
    with loading(f"the image encoder fastembed:{model}", "fastembed"):
        from fastembed import ImageEmbedding, TextEmbedding

        seeing = opened(ImageEmbedding, "@".join(filter(None, (name, seen))), settings)
        reading = opened(TextEmbedding, "@".join(filter(None, (text_model(name), read))), settings)
    return ImageEncoder(
        f"fastembed:{model}",
        lambda batch: list(seeing.embed([frames[0] for frames in batch], batch_size=BATCH)),
        lambda batch: list(reading.embed(batch, batch_size=BATCH)),
    )


def _transformers(model: str) -> ImageEncoder:
    """Open CLIP, SigLIP, X-CLIP or another model of transformers for texts and pictures or videos."""
    what, hint = f"the image encoder hf:{model}", "name a CLIP or SigLIP model that was saved as safetensors"
    torch, transformers = torch_and_transformers(what)
    net, tokenizer, folder = load_encoder(what, model, hint)
    with loading(what, "hf", hint):
        with quiet(transformers.utils.logging):
            pictures = transformers.AutoImageProcessor.from_pretrained(folder, **LOCAL)
        longest = int(net.config.text_config.max_position_embeddings)
        padding = "max_length" if "siglip" in net.config.model_type else True  # as SigLIP was trained
        films = hasattr(net, "get_video_features")
        frames = int(net.config.vision_config.num_frames) if films else 1
        seeing, reading = net.get_video_features if films else net.get_image_features, net.get_text_features

    def images(batch: list[list[Any]]) -> Any:
        shown: list[Any] = []
        for clip in batch:
            shown += [clip[n * len(clip) // frames] for n in range(frames)]
        given = pictures(images=shown, return_tensors="pt").to(net.device, net.dtype)
        if films:
            given["pixel_values"] = given["pixel_values"].unflatten(0, (len(batch), frames))
        with torch.inference_mode():
            return _rows(seeing(**given))

    def texts(batch: list[str]) -> Any:
        with torch.inference_mode():
            tokens = tokenizer(
                batch, padding=padding, truncation=True, max_length=longest, return_tensors="pt"
            )
            return _rows(reading(**tokens.to(net.device)))

    return ImageEncoder(f"hf:{model}", images, texts, frames)


def _rows(found: Any) -> Any:
    # Newer versions of transformers return the features inside an output object.
    return getattr(found, "pooler_output", found).float().cpu().numpy()
