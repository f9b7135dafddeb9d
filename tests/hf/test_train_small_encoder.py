"""The real all-MiniLM-L6-v2 as base: trained on a few dozen rows, loaded through the settings, used by a question.

`python tests/weights/fetch_weights.py` puts the weights down; without them these tests are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aindex, astate
from ragweave.evals import train_text as t
from ragweave.models import checkpoint
from ragweave.models.relevance import Passage
from ragweave.models.settings import model_settings

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")

HUB = Path(__file__).resolve().parents[2] / ".cache" / "weights" / "hub"
BASE = HUB / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / ("0" * 40)
LABELS = ("none", "paragraph", "document", "image", "clip", "video")
SHORT: dict[str, Any] = {"epochs": 3, "rate": 3e-4, "batch": 8, "max_length": 48, "freeze_embeddings": True}
FERRY = "The last boat to the island leaves the pier at half past nine."
QUESTION = "When does the last boat to the island leave?"
"""Neither stands in the rows that are learnt from."""
FACTS = {
    "Where is the mill?": "The mill is by the river.",
    "Who owns the inn?": "The inn belongs to a brewer.",
    "When does the bakery open?": "The bakery opens at six.",
    "How deep is the well?": "The well is forty metres deep.",
    "What does the ticket cost?": "A ticket costs three euros.",
    "Which bird nests on the roof?": "A stork nests on the roof.",
}


@pytest.fixture
def folders(tmp_path: Path, write: Callable[..., Path], cues: dict[str, str]) -> tuple[Path, Path]:
    """A router and an evaluator, trained in seconds."""
    if not (BASE / "model.safetensors").is_file():
        pytest.skip("no weights of all-MiniLM-L6-v2; `python tests/weights/fetch_weights.py` puts them there")
    questions = [
        {"query": f"{cue} {n}?", "label": label, "source": "made"}
        for label, cue in cues.items()
        for n in range(10)
    ]
    pairs = [
        {"qid": f"{n}", "question": question, "passage": passage, "label": int(fact == question)}
        for n, question in enumerate(FACTS)
        for fact, passage in FACTS.items()
    ]
    router, evaluator = tmp_path / "router", tmp_path / "evaluator"
    t.train_router(write(questions), str(BASE), router, replace(t.ENCODER_ROUTER, **SHORT))
    t.train_evaluator(write(pairs), str(BASE), evaluator, replace(t.ENCODER_EVALUATOR, **SHORT))
    return router, evaluator


async def test_a_question_is_routed_and_graded_by_what_was_trained_from_real_weights(
    folders: tuple[Path, Path], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    router, evaluator = folders
    monkeypatch.setenv("RAGWEAVE_ROUTER", str(router))
    monkeypatch.setenv("RAGWEAVE_EVALUATOR", str(evaluator))
    model_settings.cache_clear()
    found = checkpoint.router(model_settings().router, LABELS)("which year was it founded, the mill?")
    assert max(found, key=lambda label: found[label]) == "paragraph", found
    scores = checkpoint.evaluator(model_settings().evaluator)(
        QUESTION, [Passage("", FERRY), Passage("", "Bread.")]
    )
    assert all(-1 <= score <= 1 for score in scores) and scores[0] != scores[1]
    (tmp_path / "ferry.md").write_text(f"# Ferry\n\n{FERRY}\n", encoding="utf-8")
    await aindex([tmp_path / "ferry.md"])
    state = await astate(QUESTION, context={"route_by": "checkpoint", "grade_by": "checkpoint"})
    assert state["routes"][0]["by"] == "checkpoint" and state["grade"]["by"] == "checkpoint", state["notes"]
