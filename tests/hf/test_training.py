"""What every training shares, over a tiny DistilBERT: 16 bits, parts of a batch, several processes, going on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.evals import train_text as t
from ragweave.models.settings import model_settings

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")

RECIPE = replace(t.ENCODER_ROUTER, epochs=3, rate=3e-3, batch=8, bf16=False)
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
    return Path(
        tiny.save(tmp_path_factory.mktemp("base") / "dry", DistilBertModel(config), tiny.bert_tokenizer())
    )


@pytest.fixture
def train(tmp_path: Path, base: Path, routed: Path) -> Train:
    """Trains a router under a name."""

    def made(name: str, **changes: Any) -> tuple[Path, dict[str, float]]:
        progress = changes.pop("progress", None)
        figures = t.train_router(
            routed, str(base), tmp_path / name, replace(RECIPE, **changes), progress=progress
        )
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


def test_two_processes_share_a_batch_and_end_where_one_does(
    train: Train, tmp_path: Path, base: Path, routed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_DEVICE", "cpu")
    model_settings.cache_clear()
    alone, _ = train("alone", epochs=1)
    # With a GPU at hand, too, `--cpu` is enough.
    monkeypatch.delenv("RAGWEAVE_DEVICE")
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2"]
    launch += [
        "--num_machines",
        "1",
        "--mixed_precision",
        "no",
        "--dynamo_backend",
        "no",
        "--main_process_port",
        "0",
    ]
    command = ["-m", "ragweave.app.cli", "train", "router", "--kind", "encoder", "--data", str(routed)]
    command += ["--base", str(base), "--out", str(tmp_path / "both"), "--epochs", "1", "--batch", "8"]
    done = subprocess.run([*launch, *command, "--rate", "0.003"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("RAGWEAVE_ROUTER") == 1
    assert distance(alone, tmp_path / "both") < 1e-3
