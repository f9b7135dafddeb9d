"""A home that holds the weights which `tests/weights/fetch_weights.py` has put down, and no network."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.models.settings import model_settings

WEIGHTS = Path(__file__).resolve().parents[2] / ".cache" / "weights"
NONE = "0" * 40
"""Commit under which weights lie that come from no commit of their repository."""


@pytest.fixture(autouse=True)
def _downloaded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the weights for downloaded ones; nobody may fetch others."""
    if not (WEIGHTS / "hub").is_dir():
        pytest.skip(f"no weights at {WEIGHTS}; `python tests/weights/fetch_weights.py` puts them there")
    home.mkdir(parents=True, exist_ok=True)
    (home / "models").symlink_to(WEIGHTS)
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    model_settings.cache_clear()
