"""Fine-tune a chat model to iterate, with TRL and PEFT on the output of `ragweave synthesize`.

The loss counts the assistant's turns alone (Auto-RAG, section 3.4): documents are to be read, not learnt.
Which tokens are the assistant's is read off the rendered conversation, so that any chat template will do.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragweave.evals.data import read_jsonl
from ragweave.evals.training import Plan, Progress, Workplace
from ragweave.models.checkpoint_files import Sheet, find, quiet, read_config, torch_and_transformers
from ragweave.models.device import torch_device
from ragweave.models.errors import InputError, MissingExtra, ModelError, WeightsError
from ragweave.models.text import clip

IGNORED = -100
"""Label of a token that does not count in the loss."""
_ROLES = ("system", "user", "assistant")
_LEAST = 2
"""Conversations that are needed at least: one to learn from and one to measure on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(Plan):
    """How a chat model is tuned.

    The scale of the low-rank matrices is twice their rank; conversations of more than `max_length` tokens are
    left out and counted; `merge` writes the whole tuned model instead of the adapter.
    """

    epochs: int = 3
    rate: float = 1e-4
    batch: int = 4
    max_length: int = 8_192
    rank: int = 16
    merge: bool = False


Example = dict[str, list[int]]
"""`input_ids` and `labels` (tokens,)."""


def train_reasoner(
    data: Path, base: str, out: Path, tuning: Tuning, *, licence: str = "", progress: Progress | None = None
) -> dict[str, float]:
    """Tune a chat model and write its adapter, or the whole model, as safetensors.

    `data` is JSON Lines with `messages`; `base` has a chat template and is a folder or OWNER/NAME@COMMIT of
    the hub; `out` must not exist, or hold an earlier result.

    Returns:
        Conversations and tokens learnt from, those left out as too long, and the loss per assistant token on
        the held-out conversations before and after.

    Raises:
        InputError: if data, base or output folder cannot be used.
        MissingExtra: if transformers, TRL or PEFT is not installed.
        WeightsError: if the base model cannot be loaded.
        ModelError: if training fails or diverges.
    """
    talks = read_talks(data)
    torch, transformers = torch_and_transformers("tuning a chat model")
    try:
        import peft
        import trl
        from datasets import Dataset
    except ImportError as error:
        raise MissingExtra("tuning a chat model", "hf") from error
    place = Workplace(out)
    graphics = torch_device(torch) != "cpu"
    args = place.arguments(
        trl.SFTConfig,
        tuning,
        per_device_eval_batch_size=1,
        max_length=None,  # the rows are cut to measure already, and none is truncated
        gradient_checkpointing=graphics,
        save_strategy="steps",
        save_steps=0.1,
    )
    with place.open(args, tuning, base, data), torch.random.fork_rng(), quiet(transformers.utils.logging):
        start = find(base)
        model, tokenizer = _load(start, torch, transformers)
        made = [
            examples(tokenizer, t, tuning.max_length, f"conversation {n} of {data.name}") for n, t in talks
        ]
        fitting = [e for e in made if e]
        random.Random(tuning.seed).shuffle(fitting)
        held = max(1, round(len(fitting) * tuning.held_out))
        if len(fitting) < _LEAST:
            raise InputError(
                f"{len(fitting)} conversations of {data.name} fit into {tuning.max_length} tokens",
                "give more of them, or a larger --max-length",
            )
        parts = [e for group in fitting[held:] for e in group], [e for group in fitting[:held] for e in group]
        lora = peft.LoraConfig(
            r=tuning.rank, lora_alpha=2 * tuning.rank, target_modules="all-linear", task_type="CAUSAL_LM"
        )
        trainer = trl.SFTTrainer(
            model=model,
            processing_class=tokenizer,
            train_dataset=Dataset.from_list(parts[0]),
            eval_dataset=Dataset.from_list(parts[1]),
            peft_config=lora,
            args=args,
        )
        place.watch(trainer, tuning.epochs, progress)
        before = trainer.evaluate()["eval_loss"]
        place.train(trainer)
        after = trainer.evaluate()["eval_loss"]
        if not after < float("inf"):
            raise ModelError("tuning diverged", "use a lower learning rate")
        figures = {
            "conversations": len(fitting) - held,
            "tokens": sum(label != IGNORED for e in parts[0] for label in e["labels"]),
            "too_long": len(made) - len(fitting),
            "loss_before": float(before),
            "loss": float(after),
        }
        if trainer.is_world_process_zero():
            if tuning.merge:
                trainer.model.merge_and_unload().save_pretrained(place.done)
            else:
                # The embeddings are untouched; to find that out by itself, PEFT would ask the hub.
                trainer.model.save_pretrained(place.done, save_embedding_layers=False)
            tokenizer.save_pretrained(place.done)
            sheet = Sheet(task="reasoner", max_length=min(tuning.max_length, 8_192))
            name = start.name if Path(base).exists() else base
            place.publish(trainer, sheet, tuning, name, data, licence, figures)
    return figures


def read_talks(path: Path) -> list[tuple[int, list[dict[str, str]]]]:
    """Return the conversations of a file with their line numbers.

    Raises:
        InputError: a row holds no messages of known roles and text, or no turn of the assistant; or there are
            too few.
    """
    found: list[tuple[int, list[dict[str, str]]]] = []
    for number, row in enumerate(read_jsonl(path, ("messages",)), 1):
        said = row["messages"]
        known = isinstance(said, list) and all(
            isinstance(m, Mapping) and m.get("role") in _ROLES and isinstance(m.get("content"), str)
            for m in said
        )
        if not known or not any(m["role"] == "assistant" for m in said):
            raise InputError(
                f"row {number} of {path.name} is no conversation with a turn of the assistant",
                "give `messages` with `role` and `content`, as `ragweave synthesize` writes them",
            )
        found.append((number, [{"role": str(m["role"]), "content": str(m["content"])} for m in said]))
    if len(found) < _LEAST:
        raise InputError(f"{path.name} holds {len(found)} conversations", f"give {_LEAST} or more")
    return found


def examples(tokenizer: Any, talk: Sequence[Mapping[str, str]], max_length: int, name: str) -> list[Example]:
    """Return the token rows of one conversation, or none where one would be longer than `max_length`.

    It is one row where the template only ever appends, so that all turns are learnt at once. A template that
    renders a past turn otherwise than the last one (those that drop thoughts do) gives a row for each turn,
    as inference sees it.

    Raises:
        InputError: if the template refuses the conversation, or does not let the assistant's turn follow its
            opening.
    """
    turns = [n for n, m in enumerate(talk) if m["role"] == "assistant"]
    spans: list[tuple[int, str]] = []
    for n in turns:
        before, after = (
            _render(tokenizer, talk[:n], True, name),
            _render(tokenizer, talk[: n + 1], False, name),
        )
        if not after.startswith(before):
            raise InputError(
                f"the chat template of {clip(str(tokenizer.name_or_path), 80)} does not append the"
                " assistant's turns",
                "give a model whose template does",
            )
        spans.append((len(before), after))
    whole = spans[-1][1]
    if all(whole.startswith(after) for _, after in spans):
        made = [_tokens(tokenizer, whole, [(start, len(after)) for start, after in spans])]
    else:
        made = [_tokens(tokenizer, after, [(start, len(after))]) for start, after in spans]
    return made if max(len(e["input_ids"]) for e in made) <= max_length else []


def _render(tokenizer: Any, talk: Sequence[Mapping[str, str]], opening: bool, name: str) -> str:
    try:
        return str(tokenizer.apply_chat_template(list(talk), tokenize=False, add_generation_prompt=opening))
    except Exception as error:
        raise InputError(
            f"the chat template of the model refuses {name} ({clip(str(error), 200)})",
            "give a chat model whose template takes system, user and assistant in turn",
        ) from error


def _tokens(tokenizer: Any, text: str, spans: Sequence[tuple[int, int]]) -> Example:
    """Tokenise a rendered conversation; tokens outside the assistant's spans get the label IGNORED."""
    read = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids = [int(i) for i in read["input_ids"]]
    own = [any(a < end and b > start for start, end in spans) for a, b in read["offset_mapping"]]
    return {"input_ids": ids, "labels": [i if mine else IGNORED for i, mine in zip(ids, own, strict=True)]}


def _load(folder: Path, torch: Any, transformers: Any) -> tuple[Any, Any]:
    read_config(folder)
    common = {"local_files_only": True, "trust_remote_code": False}
    kind = torch.float32 if torch_device(torch) == "cpu" else torch.bfloat16
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **common)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, use_safetensors=True, dtype=kind, **common
        )
    except Exception as error:
        raise WeightsError(
            f"{folder.name} cannot be loaded as a chat model: {type(error).__name__}:"
            f" {clip(str(error), 200)}",
            "give a causal language model in safetensors",
        ) from error
    if not tokenizer.chat_template or not tokenizer.is_fast:
        raise InputError(
            f"{folder.name} has no chat template or no fast tokeniser",
            "give a model that was tuned to converse",
        )
    # Where a model was loaded from is this machine's affair and stays out of the files that are written.
    model.config._name_or_path = model.name_or_path = tokenizer.name_or_path = folder.name
    return model, tokenizer
