"""What a training takes of a GPU, and what it says if the GPU cannot do it; torch is played."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.evals.training import Plan, Workplace, check_device
from ragweave.models.errors import InputError, ModelError

PLAN = Plan(epochs=1, rate=1e-4, batch=8, max_length=64)
GPU = "cuda"


def torch(count: int = 1, capability: int = 9) -> Any:
    """Play torch on a machine of so many GPUs."""
    cuda = SimpleNamespace(device_count=lambda: count, get_device_capability=lambda device: (capability, 0))
    return SimpleNamespace(cuda=cuda)


def test_an_old_gpu_trains_in_32_bits_and_refuses_16() -> None:
    check_device(torch(capability=7), GPU, PLAN)
    with pytest.raises(InputError, match="Leave out --bf16"):
        check_device(torch(capability=7), GPU, replace(PLAN, bf16=True))
    check_device(torch(capability=8), GPU, replace(PLAN, bf16=True))
    check_device(torch(0), "cpu", replace(PLAN, bf16=True))


def test_one_of_several_gpus_is_refused_because_a_training_takes_them_all() -> None:
    check_device(torch(2), GPU, PLAN)
    check_device(torch(1), "cuda:0", PLAN)
    with pytest.raises(InputError, match="CUDA_VISIBLE_DEVICES to 1"):
        check_device(torch(2), "cuda:1", PLAN)


def test_a_named_gpu_and_a_launch_on_the_cpu_contradict_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    with pytest.raises(InputError, match="started with --cpu"):
        check_device(torch(), GPU, PLAN)
    check_device(torch(), "cpu", PLAN)


def test_a_full_gpu_is_said_in_words_and_leaves_no_rest(tmp_path: Path) -> None:
    class Args:
        process_index = 0

        def main_process_first(self) -> Any:
            return open(tmp_path / "rows.jsonl", "a")

    (tmp_path / "rows.jsonl").write_text("{}\n")
    place = Workplace(tmp_path / "out")
    with pytest.raises(ModelError, match=r"memory of the GPU is full.*--accumulate"):
        with place.open(Args(), PLAN, "base", tmp_path / "rows.jsonl"):
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
    assert not place.folder.exists()
    with pytest.raises(RuntimeError, match=r"^something else$"):
        with place.open(Args(), PLAN, "base", tmp_path / "rows.jsonl"):
            raise RuntimeError("something else")
