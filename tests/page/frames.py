"""Waiting for what the page measures as it is drawn."""

from __future__ import annotations

from typing import Any

_DRAWN = """
(frames) => new Promise((done) => {
  const next = () => (frames-- ? requestAnimationFrame(next) : done());
  next();
})
"""


def drawn(page: Any, frames: int) -> None:
    """Wait until the page was drawn so often, however long one frame takes."""
    page.evaluate(_DRAWN, frames)
