"""Shared parts of the training of transformers: plan, loop, folder of unfinished work, and card.

The loop is transformers' Trainer: mixed precision, accumulation of gradients and several processes under
`accelerate launch`. A stopped run continues from its last checkpoint if the same command is given again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ragweave.models.checkpoint_files import SHEET, Sheet
from ragweave.models.device import halves, is_full, launched_on_cpu, torch_device
from ragweave.models.errors import InputError, ModelError, RagweaveError
from ragweave.models.text import clip

Progress = Callable[[int, int, str], None]
"""Called with the number of steps done, the number of all steps, and the figures so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings of a training.

    The rate falls linearly to 0. A step learns from `batch` rows on every machine: each process reads
    batch / (accumulate x processes) of them at once. `bf16` computes in 16 bits over weights of 32; None
    chooses it on a GPU that supports it. `held_out` is the share of the rows for measuring.

    Raises:
        InputError: if a value makes no sense.
    """

    epochs: int
    rate: float
    batch: int
    max_length: int
    accumulate: int = 1
    bf16: bool | None = None
    decay: float = 0.0
    held_out: float = 0.1
    seed: int = 42

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch, self.rate, self.accumulate) <= 0 or self.max_length < 8:
            raise InputError(
                "epochs, batch, its parts and the learning rate must be above 0, and 8 tokens is the least",
                "mend it",
            )


class Workplace:
    """The folder of an unfinished training: `.OUT.training` next to the wanted folder.

    Attributes:
        folder: the folder with the Trainer's checkpoints.
        done: the folder with the finished result, before it is moved to `out`.
    """

    def __init__(self, out: Path) -> None:
        self.out, self.folder = out, out.with_name(f".{out.name}.training")
        self.done = self.folder / "done"

    def arguments(self, kind: Any, plan: Plan, **more: Any) -> Any:
        """Return the Trainer's arguments; `kind` is their class.

        Raises:
            InputError: if the batch cannot be shared out evenly, or the GPU cannot do what is wanted.
        """
        import torch

        device = torch_device(torch)
        check_device(torch, device, plan)
        graphics = device != "cpu"
        made = kind(
            output_dir=str(self.folder),
            num_train_epochs=plan.epochs,
            learning_rate=plan.rate,
            lr_scheduler_type="linear",
            weight_decay=plan.decay,
            gradient_accumulation_steps=plan.accumulate,
            bf16=halves(torch, device) if plan.bf16 is None else plan.bf16,
            use_cpu=not graphics,
            dataloader_pin_memory=False,  # rows may be tokenised straight onto the device
            save_total_limit=1,
            logging_steps=0.02,
            logging_nan_inf_filter=False,
            report_to="none",
            disable_tqdm=True,
            seed=plan.seed,
            **more,
        )
        parts = plan.accumulate * made.world_size * max(1, made.n_gpu)
        if plan.batch % parts:
            raise InputError(
                f"a batch of {plan.batch} cannot be cut into {parts} parts", f"give a multiple of {parts}"
            )
        made.per_device_train_batch_size = plan.batch // parts
        return made

    @contextmanager
    def open(self, args: Any, plan: Plan, base: str, data: Path) -> Iterator[None]:
        """Prepare the folder; it stays if the training stops after a checkpoint, and is removed otherwise.

        The remains of another training (other plan, base or data) are removed first.

        Raises:
            InputError: if `out` holds anything but an earlier checkpoint of Ragweave's, or if its parent
                folder cannot be written.
        """
        out = self.out
        is_empty = out.is_dir() and not any(out.iterdir())
        if out.exists() and not (out / SHEET).is_file() and not is_empty:
            raise InputError(
                f"{out} is there already and is not a checkpoint of Ragweave's", "give a new folder"
            )
        key = hashlib.sha256(f"{plan!r} {base} {_digest(data)}".encode()).hexdigest()
        try:
            with args.main_process_first():
                if args.process_index == 0 and not _holds(self.folder / "key", key):
                    shutil.rmtree(self.folder, ignore_errors=True)
                    self.folder.mkdir(parents=True)
                    (self.folder / "key").write_text(key, encoding="ascii")
        except OSError as exc:
            raise InputError(f"{out} cannot be written ({exc.strerror})", "give another folder") from exc
        try:
            with _explained():
                yield
        except RagweaveError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        except BaseException:
            if not any(self.folder.glob("checkpoint-*")):
                shutil.rmtree(self.folder, ignore_errors=True)
            raise
        if args.process_index == 0:
            shutil.rmtree(self.folder, ignore_errors=True)

    def watch(self, trainer: Any, epochs: int, progress: Progress | None) -> None:
        """Make a Trainer report its progress, and stop it if its loss is no number."""
        from transformers import PrinterCallback, TrainerCallback

        class Watcher(TrainerCallback):  # type: ignore[misc]
            def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                if progress and state.is_world_process_zero:
                    epoch = f"epoch {math.ceil(state.epoch)} of {epochs}"
                    parts = [epoch, *_latest_figures(state.log_history)]
                    progress(state.global_step, state.max_steps, ", ".join(parts))

            def on_log(
                self, args: Any, state: Any, control: Any, logs: Mapping[str, float], **_: Any
            ) -> None:
                if not math.isfinite(logs.get("loss", 0.0)):
                    raise ModelError(
                        f"training diverged at step {state.global_step}", "use a lower learning rate"
                    )

        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(Watcher())

    def train(self, trainer: Any) -> None:
        """Run a Trainer to its end, from its last checkpoint if there is one.

        Raises:
            ModelError: if it fails or diverges.
        """
        from transformers.trainer_utils import get_last_checkpoint

        try:
            trainer.train(resume_from_checkpoint=get_last_checkpoint(str(self.folder)))
        except ModelError:
            raise
        except (RuntimeError, ValueError) as error:
            if is_full(error):
                raise  # `open` explains it
            raise ModelError(
                f"training failed: {type(error).__name__}: {clip(str(error), 300)}",
                "out of memory: more parts (--accumulate), or shorter rows; else check the base model",
            ) from error

    def publish(
        self,
        trainer: Any,
        sheet: Sheet,
        plan: Plan,
        base: str,
        data: Path,
        licence: str,
        figures: Mapping[str, float],
    ) -> None:
        """Write sheet, card and curve next to the weights, and move the folder to `out` in one step.

        An earlier checkpoint at `out` is replaced.
        """
        folder, out = self.done, self.out
        card = _card(plan, base, data, licence, figures)
        (folder / SHEET).write_text(
            json.dumps({**sheet.model_dump(), "card": card}, indent=2) + "\n", encoding="utf-8"
        )
        (folder / "README.md").write_text(_readme(sheet, card), encoding="utf-8")
        curve = [json.dumps(row) + "\n" for row in trainer.state.log_history]
        (folder / "curve.jsonl").write_text("".join(curve), encoding="utf-8")
        if out.exists():
            # A folder with files cannot be the target of a rename, so the old one moves away first.
            with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as aside:
                old = out.rename(Path(aside) / "old")
                try:
                    folder.rename(out)
                except OSError:
                    old.rename(out)
                    raise
        else:
            folder.rename(out)


def check_device(torch: Any, device: str, plan: Plan) -> None:
    """Check that the GPU can do what is wanted.

    Raises:
        InputError: it cannot compute in bfloat16; it is one of several, and the Trainer takes all; or
            `accelerate launch` wants the CPU.
    """
    if device != "cpu" and launched_on_cpu():
        raise InputError(
            f"RAGWEAVE_DEVICE is {device}, and `accelerate launch` was started with --cpu",
            "leave out one of the two",
        )
    if plan.bf16 and device != "cpu" and not halves(torch, device):
        raise InputError("this GPU does not compute in bfloat16", "leave out --bf16")
    number = device.partition(":")[2]
    if number and torch.cuda.device_count() > 1:
        raise InputError(
            f"RAGWEAVE_DEVICE is {device}, and a training takes every GPU that torch sees",
            f"show it this one alone: set CUDA_VISIBLE_DEVICES to {number} and RAGWEAVE_DEVICE to cuda",
        )


@contextmanager
def _explained() -> Iterator[None]:
    """Say in words that the memory of the GPU is full."""
    try:
        yield
    except RagweaveError:
        raise
    except RuntimeError as error:
        if not is_full(error):
            raise
        raise ModelError(
            "training failed: the memory of the GPU is full",
            "give more parts (--accumulate), shorter rows (--max-length) or a smaller base, or end other"
            " programs that use the GPU",
        ) from error


def _card(plan: Plan, base: str, data: Path, licence: str, figures: Mapping[str, float]) -> dict[str, object]:
    """Return the provenance and the figures of a checkpoint."""
    rounded, versions = {}, {}
    for name, value in figures.items():
        rounded[name] = round(value, 4)
    for name in ("ragweave", "torch", "transformers"):
        versions[name] = version(name)
    return {
        "base": base,
        "data": {"file": data.name, "sha256": _digest(data), "licence": licence or "not stated"},
        "recipe": dataclasses.asdict(plan),
        "figures": rounded,
        "versions": versions,
        "trained": datetime.now(UTC).date().isoformat(),
    }


def _latest_figures(history: Sequence[Mapping[str, float]]) -> list[str]:
    """Return the accuracy and the loss of the last evaluation in words."""
    for row in reversed(history):
        if "eval_loss" in row:
            shown = []
            for name in ("eval_accuracy_micro", "eval_loss"):
                if name in row:
                    shown.append(f"{name.removeprefix('eval_')} {row[name]:.3f}")
            return shown
    return []


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _holds(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text(encoding="ascii") == text


def _readme(sheet: Sheet, card: Mapping[str, object]) -> str:
    kind = f"A {sheet.task} for Ragweave"
    lines = [
        f"# {str(sheet.task).capitalize()}",
        "",
        f"{kind}, trained from {card['base']} with `ragweave train`.",
        "",
    ]
    for title in ("data", "figures", "recipe", "versions"):
        rows = card[title]
        assert isinstance(rows, dict)
        lines += [f"## {title.capitalize()}", "", "| | |", "|---|---|"]
        for name, value in rows.items():
            lines.append(f"| {name} | {value} |")
        lines.append("")
    if sheet.task == "reasoner":
        note = "The losses are per token of the assistant in the held-out conversations."
    else:
        chosen = "the epoch and the temperature" if sheet.task == "router" else "the epoch"
        note = f"The figures are of the held-out rows that also chose {chosen}: measure on other data with"
        note += " `ragweave eval`."
    return "\n".join([*lines, note, ""])
