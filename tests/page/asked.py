"""What the tests of the page share: a question, the settings of a model that answers at once, and a wait."""

from __future__ import annotations

import json
from typing import Any

QUESTION = "When was the lamp of the lighthouse first lit?"
LLM = json.dumps({"mode": "llm", "route_by": "local", "grade_by": "local", "max_hops": 1})
_DRAWN = """
(frames) => new Promise((done) => {
  const next = () => (frames-- ? requestAnimationFrame(next) : done());
  next();
})
"""


def drawn(page: Any, frames: int) -> None:
    """Wait until the page was drawn so often, however long one frame takes."""
    page.evaluate(_DRAWN, frames)
