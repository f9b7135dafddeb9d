from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragweave.evals import train_text as t
from ragweave.models import checkpoint
from ragweave.models.relevance import Passage

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")

LABELS = ("none", "paragraph", "document", "image", "clip", "video")
QUICK: dict[str, Any] = {"epochs": 1, "rate": 5e-3, "batch": 32}


@pytest.mark.parametrize("kind", ["distilbert", "t5"])
def test_a_router_learns_what_its_rows_teach_and_is_loaded_back(
    kind: str, trained: dict[str, Any], cues: dict[str, str]
) -> None:
    route = checkpoint.router(str(trained[kind].folder), LABELS)
    assert trained[kind].figures["accuracy_micro"] >= 0.9
    for label, cue in cues.items():
        found = route(f"please {cue}?")
        assert max(found, key=found.__getitem__) == label
        assert sum(found.values()) == pytest.approx(1.0)
    assert set(found) == set(LABELS)


def test_an_evaluator_learns_what_its_rows_teach_and_is_loaded_back(trained: dict[str, Any]) -> None:
    judge = checkpoint.evaluator(str(trained["evaluator"].folder))
    good, bad = judge("tell me about the moon", [Passage("", "moon tide"), Passage("oven", "bread oven")])
    assert good > 0.5 > -0.5 > bad
    assert trained["evaluator"].figures["auc"] == 1.0


@pytest.mark.parametrize("kind", ["distilbert", "t5", "evaluator"])
def test_a_card_lies_beside_the_weights_and_names_no_folder_of_this_machine(
    kind: str, trained: dict[str, Any], routed: Path, pairs: Path
) -> None:
    folder = trained[kind].folder
    data = pairs if kind == "evaluator" else routed
    card = json.loads((folder / "ragweave.json").read_text(encoding="utf-8"))["card"]
    assert card["data"] == {
        "file": data.name, "sha256": hashlib.sha256(data.read_bytes()).hexdigest(), "licence": "CC0",
    }  # fmt: skip
    assert card["figures"]["held_out_rows"] == (8 if kind == "evaluator" else 24)
    assert "CC0" in (folder / "README.md").read_text(encoding="utf-8")
    texts = [p.read_text(encoding="utf-8") for p in folder.iterdir() if p.suffix in (".json", ".md")]
    assert not any(str(data.parent.parent) in text or "/tmp" in text for text in texts)
    assert not [p for p in folder.iterdir() if p.suffix == ".bin"]


def test_a_failed_training_keeps_the_earlier_result_and_leaves_no_rest(
    tmp_path: Path, distilbert: Path, routed: Path
) -> None:
    out = tmp_path / "router"
    t.train_router(routed, str(distilbert), out, replace(t.ENCODER_ROUTER, **QUICK))
    kept = (out / "model.safetensors").read_bytes()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        t.train_router(routed, str(distilbert), out, replace(t.ENCODER_ROUTER, **QUICK), progress=stop)
    assert (out / "model.safetensors").read_bytes() == kept
    assert [p.name for p in tmp_path.iterdir() if p.name != "home"] == ["router"]
