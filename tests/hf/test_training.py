"""What every training shares, over a tiny DistilBERT: 16 bits, parts of a batch, several processes, going on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.evals import train_text as t
from ragweave.models.errors import InputError

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")

RECIPE = replace(t.DISTILBERT_ROUTER, epochs=3, rate=3e-3, batch=8)
STEPS_OF_AN_EPOCH = 27
"""216 of 240 rows are learnt from."""

Train = Callable[..., tuple[Path, dict[str, float]]]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, tiny: SimpleNamespace) -> Path:
    """A tiny DistilBERT that drops nothing, so that how rows are shared out changes no weight."""
    import torch
    from transformers import DistilBertModel

    torch.manual_seed(0)
    config = tiny.distilbert_config(attention_dropout=0.0, seq_classif_dropout=0.0)
    return Path(tiny.save(tmp_path_factory.mktemp("base") / "dry", DistilBertModel(config), tiny.bert_tokenizer()))


@pytest.fixture
def train(tmp_path: Path, base: Path, routed: Path) -> Train:
    """Trains a router under a name."""

    def made(name: str, **changes: Any) -> tuple[Path, dict[str, float]]:
        progress = changes.pop("progress", None)
        figures = t.train_router(routed, str(base), tmp_path / name, replace(RECIPE, **changes), progress=progress)
        return tmp_path / name, figures

    return made


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def distance(one: Path, other: Path) -> float:
    """Return the largest difference between two weights of the same place."""
    from safetensors.torch import load

    a, b = load(weights(one)), load(weights(other))
    return max(float((a[name] - b[name]).abs().max()) for name in a)


def test_a_batch_in_parts_teaches_what_the_whole_batch_teaches(train: Train) -> None:
    whole, figures = train("whole", epochs=1)
    parts, same = train("parts", epochs=1, accumulate=4)
    other, _ = train("other", epochs=1, batch=2)
    assert distance(whole, parts) < 1e-4 < distance(whole, other)
    assert same["loss"] == pytest.approx(figures["loss"], abs=1e-3)


def test_sixteen_bits_teach_nearly_the_same_and_leave_weights_of_thirty_two(train: Train) -> None:
    import torch
    from safetensors.torch import load

    exact, figures = train("exact", bf16=False)
    rough, found = train("rough", bf16=True)
    assert weights(rough) != weights(exact)
    assert found["loss"] == pytest.approx(figures["loss"], abs=0.2)
    assert {w.dtype for w in load(weights(rough)).values()} == {torch.float32}


@pytest.mark.parametrize("stopped", [STEPS_OF_AN_EPOCH + 1, 2 * STEPS_OF_AN_EPOCH + 3])
def test_a_stopped_training_goes_on_from_its_last_epoch_and_ends_as_if_never_stopped(
    train: Train, tmp_path: Path, stopped: int
) -> None:
    seen: list[int] = []

    def stop(done: int, total: int, said: str) -> None:
        if done == stopped:
            raise KeyboardInterrupt

    whole, figures = train("whole")
    with pytest.raises(KeyboardInterrupt):
        train("again", progress=stop)
    assert (tmp_path / ".again.training").is_dir() and not (tmp_path / "again").exists()
    again, same = train("again", progress=lambda done, *_: seen.append(done))
    assert seen[0] == stopped // STEPS_OF_AN_EPOCH * STEPS_OF_AN_EPOCH + 1
    assert weights(again) == weights(whole) and same == figures
    assert not (tmp_path / ".again.training").exists()


def test_what_another_recipe_left_unfinished_is_not_gone_on_with(train: Train) -> None:
    seen: list[int] = []

    def stop(done: int, total: int, said: str) -> None:
        if done == STEPS_OF_AN_EPOCH + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("router", progress=stop)
    train("router", seed=1, progress=lambda done, *_: seen.append(done))
    assert seen[0] == 1


def test_a_curve_lies_beside_the_weights(train: Train) -> None:
    folder, figures = train("router")
    rows = [json.loads(line) for line in (folder / "curve.jsonl").read_text(encoding="utf-8").splitlines()]
    losses = [row["loss"] for row in rows if "loss" in row]
    assert losses[-1] < losses[0]
    held = [row["eval_accuracy_micro"] for row in rows if "eval_accuracy_micro" in row]
    assert len(held) == RECIPE.epochs and max(held) == figures["accuracy_micro"]


def test_two_processes_share_a_batch_and_end_where_one_does(
    train: Train, tmp_path: Path, base: Path, routed: Path
) -> None:
    alone, _ = train("alone", epochs=1)
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2"]
    launch += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0"]
    command = ["-m", "ragweave.app.cli", "train", "router", "--kind", "distilbert", "--data", str(routed)]
    command += ["--base", str(base), "--out", str(tmp_path / "both"), "--epochs", "1", "--batch", "8"]
    done = subprocess.run([*launch, *command, "--rate", "0.003"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("RAGWEAVE_ROUTER") == 1
    assert distance(alone, tmp_path / "both") < 1e-3


def test_a_batch_that_cannot_be_cut_evenly_is_refused(train: Train) -> None:
    with pytest.raises(InputError, match="multiple of 3"):
        train("router", accumulate=3)
