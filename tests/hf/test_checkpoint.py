from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragweave.models import checkpoint
from ragweave.models.errors import ModelError, WeightsError
from ragweave.models.relevance import Passage
from ragweave.models.settings import model_settings

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")

LABELS = ("none", "paragraph", "document", "image", "clip", "video")
ODD = [
    "",
    " \n ",
    "?",
    "x" * 50_000,
    "word " * 10_000,
    "哪一年成立",
    "</s> [SEP] [CLS] <pad>",
    "a\x00b",
    "🌑" * 300,
]


@pytest.fixture
def copy(trained: dict[str, Any], tmp_path: Path) -> Any:
    """Copies a trained checkpoint and changes its config.json or ragweave.json."""

    def made(kind: str, config: dict[str, Any] | None = None, sheet: dict[str, Any] | None = None) -> Path:
        folder = tmp_path / "copy"
        shutil.copytree(trained[kind].folder, folder)
        for name, change in (("config.json", config), ("ragweave.json", sheet)):
            if change:
                old = json.loads((folder / name).read_text(encoding="utf-8"))
                (folder / name).write_text(json.dumps({**old, **change}), encoding="utf-8")
        return folder

    return made


def sequence_model(tiny: Any, folder: Path, outputs: int, t5: bool = False, **config: Any) -> Path:
    """Save a random sequence classifier without a sheet, as others publish them."""
    import torch
    from transformers import DistilBertForSequenceClassification, T5ForSequenceClassification

    torch.manual_seed(1)
    made = tiny.t5_config if t5 else tiny.distilbert_config
    kind = T5ForSequenceClassification if t5 else DistilBertForSequenceClassification
    model = kind(made(num_labels=outputs, **config))
    return tiny.save(folder, model, tiny.t5_tokenizer() if t5 else tiny.bert_tokenizer())


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_get_probabilities_and_scores_within_their_range(
    text: str, trained: dict[str, Any]
) -> None:
    for kind in ("distilbert", "t5"):
        found = checkpoint.router(str(trained[kind].folder), LABELS)(text)
        assert set(found) == set(LABELS) and sum(found.values()) == pytest.approx(1)
    judge = checkpoint.evaluator(str(trained["evaluator"].folder))
    scores = judge(text, [Passage(text, text), Passage("", "moon tide"), Passage("moon tide", " ")])
    assert all(-1 <= x <= 1 for x in scores) and scores[2] == -1.0
    plain, marked = judge(text, [Passage("", "moon  tide"), Passage("", "moon </s> tide")])
    assert marked == pytest.approx(plain, abs=1e-6), "control words inside a passage change nothing"


async def test_the_graph_routes_and_grades_by_the_checkpoints_that_the_settings_name(
    trained: dict[str, Any], monkeypatch: pytest.MonkeyPatch, stock: Any
) -> None:
    from ragweave.components.context import Context
    from ragweave.graphs.agent import graph

    stock(
        {
            "moon.md": "# Moon\n\nThe moon raises the tide.\n",
            "bread.md": "# Bread\n\nBread is baked in an oven.\n",
        }
    )
    monkeypatch.setenv("RAGWEAVE_ROUTER", str(trained["t5"].folder))
    monkeypatch.setenv("RAGWEAVE_EVALUATOR", str(trained["evaluator"].folder))
    model_settings.cache_clear()
    context = Context(mode="extractive", route_by="checkpoint", grade_by="checkpoint")
    sent: Any = {"messages": [("human", "Tell me about the moon and the tide.")]}
    steps = {
        s["node"]: s async for s in graph.astream(sent, context=context, stream_mode="custom") if "by" in s
    }
    assert [steps[node]["by"] for node in ("route", "grade")] == ["checkpoint", "checkpoint"]
    assert not [step for step in steps.values() if "fallback" in step]


def test_a_checkpoint_is_loaded_once_although_threads_ask_together(
    trained: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = shutil.copytree(trained["distilbert"].folder, tmp_path / "copy")
    loads: list[Path] = []
    load = checkpoint.load_model

    def counted(path: Path, *args: Any, **options: Any) -> Any:
        loads.append(path)
        return load(path, *args, **options)

    monkeypatch.setattr(checkpoint, "load_model", counted)
    together = threading.Barrier(4)

    def ask() -> object:
        together.wait()
        return checkpoint.router(str(folder), LABELS)

    with ThreadPoolExecutor(4) as pool:
        assert len({id(f.result()) for f in [pool.submit(ask) for _ in range(4)]}) == 1
    assert len(loads) == 1


@pytest.mark.parametrize(
    ("kind", "config", "sheet", "message"),
    [
        (
            "distilbert",
            {"id2label": dict(enumerate("abcdef")), "label2id": {}},
            None,
            "the labels of copy are a, b",
        ),
        ("distilbert", {"id2label": {str(i): f"LABEL_{i}" for i in range(6)}}, None, "LABEL_0"),
        ("t5", None, {"labels": ["none", "table"]}, "the labels of copy are none, table"),
        ("t5", None, {"labels": ["none", "none"]}, "a router decides between"),
        ("t5", {"architectures": ["T5EncoderModel"]}, None, "neither a classifier nor a generator"),
        ("t5", {"architectures": None}, None, "model of unknown kind"),
        ("t5", {"model_type": "nothing-known"}, None, "cannot be loaded"),
        ("distilbert", {"dim": 64}, None, "cannot be loaded|lacks trained weights"),
        ("distilbert", {"n_layers": 5}, None, "lacks trained weights"),
        ("distilbert", None, {"temperature": 0}, "ragweave.json of copy cannot be read"),
        ("distilbert", None, {"task": "evaluator"}, "was trained as an evaluator"),
    ],
)
def test_a_checkpoint_that_is_no_router_is_refused_in_words(
    kind: str, config: dict[str, Any] | None, sheet: dict[str, Any] | None, message: str, copy: Any
) -> None:
    with pytest.raises(WeightsError, match=message):
        checkpoint.router(str(copy(kind, config, sheet)), LABELS)


@pytest.mark.parametrize("kind", ["distilbert", "t5"])
def test_a_router_is_no_evaluator(kind: str, trained: dict[str, Any]) -> None:
    with pytest.raises(WeightsError, match="is not an evaluator"):
        checkpoint.evaluator(str(trained[kind].folder))


def test_broken_weights_are_refused(copy: Any) -> None:
    folder = copy("evaluator")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    with pytest.raises(WeightsError, match="the checkpoint copy cannot be loaded"):
        checkpoint.evaluator(str(folder))


def test_code_that_a_checkpoint_brings_is_not_run(copy: Any) -> None:
    names = {"AutoConfig": "evil.C", "AutoModelForSequenceClassification": "evil.M"}
    folder = copy("distilbert", config={"auto_map": names, "model_type": "evil"})
    (folder / "evil.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()", encoding="utf-8")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        checkpoint.router(str(folder), LABELS)
    assert not (folder / "ran").exists()


def test_scores_that_are_not_numbers_are_an_error(copy: Any) -> None:
    from safetensors.torch import load_file, save_file

    folder = copy("distilbert")
    tensors = load_file(folder / "model.safetensors")
    tensors["classifier.bias"][0] = float("nan")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="not numbers"):
        checkpoint.router(str(folder), LABELS)("which year")


@pytest.mark.parametrize(("outputs", "t5"), [(1, False), (2, False), (1, True), (3, False)])
def test_evaluators_of_others_are_read_without_a_sheet(
    outputs: int, t5: bool, tiny: Any, tmp_path: Path
) -> None:
    folder = sequence_model(tiny, tmp_path / "other", outputs, t5)
    if outputs == 3:
        with pytest.raises(WeightsError, match="has 3 outputs"):
            checkpoint.evaluator(str(folder))
        return
    found = checkpoint.evaluator(str(folder))(
        "the moon", [Passage("", "moon tide"), Passage("oven", "bread")]
    )
    assert all(-1 <= x <= 1 for x in found) and found[0] != found[1]


def test_log_odds_of_a_cross_encoder_become_minus_one_to_one(tiny: Any, tmp_path: Path) -> None:
    """One output without a sheet is log-odds: 2 sigmoid(x) - 1 = tanh(x / 2); a regression is only clipped."""
    import math

    passage = [Passage("", "moon tide")]
    odds = checkpoint.evaluator(str(sequence_model(tiny, tmp_path / "odds", 1)))
    plain = checkpoint.evaluator(str(sequence_model(tiny, tmp_path / "plain", 1, problem_type="regression")))
    raw = plain("the moon", passage)[0]
    assert -1 < raw < 1
    assert odds("the moon", passage)[0] == pytest.approx(math.tanh(raw / 2), abs=1e-6)
