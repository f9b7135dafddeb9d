from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragweave.evals import train_text as t
from ragweave.evals.train_text_data import evaluator_rows, router_rows, split
from ragweave.models import checkpoint
from ragweave.models.errors import InputError, ModelError, WeightsError
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
def test_the_figures_of_the_card_come_from_the_weights_that_were_kept(
    kind: str, trained: dict[str, Any], routed: Path, pairs: Path
) -> None:
    """Recomputes them from the loaded checkpoint: the weights before saving and after loading agree."""
    done = trained[kind]
    if kind == "evaluator":
        _, held = split(evaluator_rows(pairs), 0.1, 42, whole=True)
        judge = checkpoint.evaluator(str(done.folder))
        said = [judge(r.text, [r.passage])[0] for r in held if r.passage]
        # The figure is of raw scores, which the evaluator clips to [-1, 1]; targets lie at the ends.
        clipped = sum((s - r.target) ** 2 for s, r in zip(said, held, strict=True)) / len(held)
        assert clipped <= done.figures["loss"] + 1e-6
        raw = judge._reader.read(*map(list, zip(*[judge._reader.pair(r.text, r.passage) for r in held], strict=True)))
        expected = sum((s - r.target) ** 2 for s, r in zip(raw[:, 0], held, strict=True)) / len(held)
        assert expected == pytest.approx(done.figures["loss"], abs=1e-5)
        return
    rows, labels = router_rows(routed)
    _, held = split(rows, 0.1, 42, whole=False)
    route = checkpoint.router(str(done.folder), LABELS)
    found = [route(r.text) for r in held]
    right = [max(p, key=p.__getitem__) == labels[int(r.target)] for p, r in zip(found, held, strict=True)]
    assert sum(right) / len(right) == pytest.approx(done.figures["accuracy_micro"])
    confidence = sum(max(p.values()) for p in found) / len(found)
    # With every bin of one sign the calibration error is the distance of mean confidence and accuracy; else more.
    assert done.figures["ece"] >= abs(confidence - sum(right) / len(right)) - 1e-5


def test_the_same_seed_gives_the_same_weights_and_leaves_other_draws_alone(
    tmp_path: Path, distilbert: Path, routed: Path
) -> None:
    import torch

    recipe = replace(t.DISTILBERT_ROUTER, **QUICK)
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    sums = set()
    for name in ("a", "b"):
        t.train_router(routed, str(distilbert), tmp_path / name, recipe)
        sums.add(hashlib.sha256((tmp_path / name / "model.safetensors").read_bytes()).hexdigest())
    assert len(sums) == 1
    assert torch.equal(before, torch.random.get_rng_state())


def test_every_step_is_reported(trained: dict[str, Any]) -> None:
    steps = trained["distilbert"].steps
    total = steps[0][1]
    assert [done for done, _, _ in steps] == list(range(1, total + 1))
    assert "epoch 8 of 8" in steps[-1][2] and "accuracy_micro" in steps[-1][2]


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


def test_nothing_but_the_result_is_left_beside_it(trained: dict[str, Any]) -> None:
    assert {p.name for p in trained["t5"].folder.parent.iterdir()} == {"distilbert", "t5", "evaluator"}


def test_a_second_training_replaces_the_first(tmp_path: Path, distilbert: Path, routed: Path) -> None:
    out = tmp_path / "router"
    for seed in (1, 2):
        t.train_router(routed, str(distilbert), out, replace(t.DISTILBERT_ROUTER, seed=seed, **QUICK))
    assert json.loads((out / "ragweave.json").read_text(encoding="utf-8"))["card"]["recipe"]["seed"] == 2
    assert [p.name for p in tmp_path.iterdir() if p.name != "home"] == ["router"]


def test_a_folder_with_other_files_is_not_written_over(tmp_path: Path, distilbert: Path, routed: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is there already"):
        t.train_router(routed, str(distilbert), tmp_path)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_failed_training_keeps_the_earlier_result_and_leaves_no_rest(
    tmp_path: Path, distilbert: Path, routed: Path
) -> None:
    out = tmp_path / "router"
    t.train_router(routed, str(distilbert), out, replace(t.DISTILBERT_ROUTER, **QUICK))
    kept = (out / "model.safetensors").read_bytes()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        t.train_router(routed, str(distilbert), out, replace(t.DISTILBERT_ROUTER, **QUICK), progress=stop)
    assert (out / "model.safetensors").read_bytes() == kept
    assert [p.name for p in tmp_path.iterdir() if p.name != "home"] == ["router"]


def test_training_that_diverges_says_so(tmp_path: Path, t5: Path, pairs: Path) -> None:
    with pytest.raises(ModelError, match="learning rate"):
        t.train_evaluator(pairs, str(t5), tmp_path / "out", replace(t.T5_EVALUATOR, rate=1e30))
    assert not (tmp_path / "out").exists()


def test_a_router_that_generates_needs_an_encoder_decoder(tmp_path: Path, distilbert: Path, routed: Path) -> None:
    with pytest.raises(InputError, match="does not generate"):
        t.train_router(routed, str(distilbert), tmp_path / "out", t.T5_ROUTER)


def test_a_body_without_weights_is_not_trained_from_chance(tmp_path: Path, distilbert: Path, routed: Path) -> None:
    """The folder claims more layers than its weights have; they would be drawn at random in silence."""
    base = tmp_path / "base"
    base.mkdir()
    for file in distilbert.iterdir():
        (base / file.name).write_bytes(file.read_bytes())
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    (base / "config.json").write_text(json.dumps({**config, "n_layers": 3}), encoding="utf-8")
    with pytest.raises(WeightsError, match="lacks trained weights"):
        t.train_router(routed, str(base), tmp_path / "out")


def test_a_prompt_needs_a_place_for_the_question(tmp_path: Path, t5: Path, routed: Path) -> None:
    with pytest.raises(InputError, match="no place for the question"):
        t.train_router(routed, str(t5), tmp_path / "out", t.T5_ROUTER, prompt="which one?")


def test_the_default_prompt_is_the_few_shot_prompt_of_the_graph() -> None:
    prompt = t.router_prompt(("paragraph", "image"))
    assert "one word out of: paragraph, image." in prompt
    assert prompt.count("{question}") == 1 and prompt.endswith("{question}")


@pytest.mark.parametrize("change", [{"epochs": 0}, {"batch": -1}, {"rate": 0.0}, {"max_length": 2}])
def test_a_recipe_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        replace(t.T5_ROUTER, **change)
