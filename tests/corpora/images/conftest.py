"""Pictures made by hand, and an OCR engine that reads what a test wrote into their colours."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ragweave.models.ocr import TextLine


class Painted:
    """Reads the text that stands for the colour of a picture's middle."""

    name = "painted"

    def __init__(self) -> None:
        self.texts: dict[tuple[int, int, int], list[str]] = {}
        self.calls = 0

    def lines(self, image: np.ndarray) -> list[TextLine]:
        self.calls += 1
        height, width = image.shape[:2]
        middle = image[height // 2, width // 2].astype(int)
        for colour, texts in self.texts.items():
            if np.abs(middle - colour).max() < 12:
                return [
                    TextLine(t, (10.0, 10.0 + 30 * n, width - 10.0, 30.0 + 30 * n), 0.9)
                    for n, t in enumerate(texts)
                ]
        return []


RED, GREEN, BLUE, BLACK = (200, 30, 30), (30, 200, 30), (30, 30, 200), (0, 0, 0)


def picture(
    colour: tuple[int, int, int] = RED, size: tuple[int, int] = (200, 100), format: str = "PNG"
) -> bytes:
    values = np.full((size[1], size[0], 3), colour, dtype=np.uint8)
    values[: max(1, size[1] // 10)] = 255 - values[: max(1, size[1] // 10)]
    out = io.BytesIO()
    Image.fromarray(values).save(out, format, quality=95) if format == "JPEG" else Image.fromarray(
        values
    ).save(out, format)
    return out.getvalue()


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> Painted:
    made = Painted()
    made.texts = {RED: ["Red harbour", "open all night"], GREEN: ["Green valley"]}
    monkeypatch.setattr("ragweave.corpora.images.reader.ocr", lambda: made)
    return made


@pytest.fixture
def media(tmp_path: Path) -> Path:
    folder = tmp_path / "media"
    folder.mkdir()
    return folder


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    def make(name: str, body: bytes | str) -> Path:
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body if isinstance(body, bytes) else body.encode())
        return path

    return make
