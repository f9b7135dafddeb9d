"""Fine-tune a chat model to iterate, with TRL and PEFT on the output of `ragweave synthesize`.

The loss counts the assistant's turns alone (Auto-RAG, section 3.4): documents are to be read, not learnt.
Which tokens are the assistant's is read off the rendered conversation, so that any chat template will do.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ragweave.evals.data import read_jsonl
from ragweave.evals.training import Plan, Progress, Workplace
from ragweave.models.checkpoint_files import Sheet, find, quiet, read_config, torch_and_transformers
from ragweave.models.device import encoding_type, remedy, torch_device
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
    libraries = _libraries()
    place = Workplace(out)
    args = _arguments(place, tuning, libraries, graphics=torch_device(torch) != "cpu")
    with place.open(args, tuning, base, data), torch.random.fork_rng(), quiet(transformers.utils.logging):
        start = find(base)
        model, tokenizer = _load(start, torch, transformers)
        parts = _parts(tokenizer, talks, tuning, data.name)
        trainer = _trainer(libraries, model, tokenizer, parts, tuning, args)
        place.watch(trainer, tuning.epochs, progress)
        before = trainer.evaluate()["eval_loss"]
        place.train(trainer)
        figures = {**parts.counts(), "loss_before": float(before), "loss": _loss(trainer)}
        if trainer.is_world_process_zero():
            _save(trainer.model, tokenizer, tuning, place.done)
            sheet = Sheet(task="reasoner", max_length=min(tuning.max_length, 8_192))
            name = start.name if Path(base).exists() else base
            place.publish(trainer, sheet, tuning, name, data, licence, figures)
    return figures


class _Libraries(NamedTuple):
    """The libraries of the tuning; nothing loads them before a tuning starts."""

    peft: Any
    trl: Any
    datasets: Any


def _libraries() -> _Libraries:
    try:
        import datasets
        import peft
        import trl
    except ImportError as error:
        raise MissingExtra("tuning a chat model", "hf") from error
    return _Libraries(peft, trl, datasets)


def _arguments(place: Workplace, tuning: Tuning, libraries: _Libraries, *, graphics: bool) -> Any:
    return place.arguments(
        libraries.trl.SFTConfig,
        tuning,
        per_device_eval_batch_size=1,
        max_length=None,  # conversations that are too long are left out already, and none is truncated
        gradient_checkpointing=graphics,
        save_strategy="steps",
        save_steps=0.1,
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """Token rows to learn from and to measure on.

    `conversations` counts those to learn from, `too_long` those that are left out.
    """

    training: list[Example]
    held_out: list[Example]
    conversations: int
    too_long: int

    def counts(self) -> dict[str, float]:
        """Return the counts of the report; a token counts if its label does."""
        tokens = 0
        for example in self.training:
            tokens += len(example["labels"]) - example["labels"].count(IGNORED)
        return {"conversations": self.conversations, "tokens": tokens, "too_long": self.too_long}


def _parts(
    tokenizer: Any, talks: Sequence[tuple[int, Sequence[Mapping[str, str]]]], tuning: Tuning, file: str
) -> _Parts:
    """Tokenise the conversations and hold out a share of those that fit."""
    fitting = []
    for number, talk in talks:
        rows = examples(tokenizer, talk, tuning.max_length, f"conversation {number} of {file}")
        if rows:
            fitting.append(rows)
    random.Random(tuning.seed).shuffle(fitting)
    held = max(1, round(len(fitting) * tuning.held_out))
    if len(fitting) < _LEAST:
        raise InputError(
            f"{len(fitting)} conversations of {file} fit into {tuning.max_length} tokens",
            "give more of them, or a larger --max-length",
        )
    training = list(chain.from_iterable(fitting[held:]))
    held_out = list(chain.from_iterable(fitting[:held]))
    return _Parts(training, held_out, len(fitting) - held, len(talks) - len(fitting))


def _trainer(
    libraries: _Libraries, model: Any, tokenizer: Any, parts: _Parts, tuning: Tuning, args: Any
) -> Any:
    lora = libraries.peft.LoraConfig(
        r=tuning.rank, lora_alpha=2 * tuning.rank, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    rows = libraries.datasets.Dataset
    return libraries.trl.SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=rows.from_list(parts.training),
        eval_dataset=rows.from_list(parts.held_out),
        peft_config=lora,
        args=args,
    )


def _loss(trainer: Any) -> float:
    """Return the loss on the held-out conversations after the tuning."""
    loss = float(trainer.evaluate()["eval_loss"])
    if not loss < float("inf"):
        raise ModelError("tuning diverged", "use a lower learning rate")
    return loss


def _save(model: Any, tokenizer: Any, tuning: Tuning, folder: Path) -> None:
    """Write the adapter, or the merged model, with its tokeniser."""
    if tuning.merge:
        model.merge_and_unload().save_pretrained(folder)
    else:
        # The embeddings are untouched; to find that out by itself, PEFT would ask the hub.
        model.save_pretrained(folder, save_embedding_layers=False)
    tokenizer.save_pretrained(folder)


def read_talks(path: Path) -> list[tuple[int, list[dict[str, str]]]]:
    """Return the conversations of a file with their line numbers.

    Raises:
        InputError: a row holds no messages of known roles and text, or no turn of the assistant; or there are
            too few.
    """
    found: list[tuple[int, list[dict[str, str]]]] = []
    for number, row in enumerate(read_jsonl(path, ("messages",)), 1):
        messages = _messages(row["messages"])
        roles = [m["role"] for m in messages]
        if "assistant" not in roles:
            raise InputError(
                f"row {number} of {path.name} is no conversation with a turn of the assistant",
                "give `messages` with `role` and `content`, as `ragweave synthesize` writes them",
            )
        found.append((number, messages))
    if len(found) < _LEAST:
        raise InputError(f"{path.name} holds {len(found)} conversations", f"give {_LEAST} or more")
    return found


def _messages(value: object) -> list[dict[str, str]]:
    """Return the messages of a row, or none if one of them has no known role or no text."""
    if not isinstance(value, list):
        return []
    messages = []
    for message in value:
        if not isinstance(message, Mapping):
            return []
        role, content = message.get("role"), message.get("content")
        if role not in _ROLES or not isinstance(content, str):
            return []
        messages.append({"role": str(role), "content": content})
    return messages


def examples(tokenizer: Any, talk: Sequence[Mapping[str, str]], max_length: int, name: str) -> list[Example]:
    """Return the token rows of one conversation, or none if one would be longer than `max_length`.

    It is one row if the template only appends, so that all turns are learnt at once. A template that renders
    a past turn otherwise than the last one (those that drop thoughts do) gives a row for each turn, as
    inference sees it.

    Raises:
        InputError: if the template refuses the conversation, or does not let the assistant's turn follow its
            opening.
    """
    spans: list[tuple[int, str]] = []
    for n, message in enumerate(talk):
        if message["role"] != "assistant":
            continue
        before = _render(tokenizer, talk[:n], True, name)
        after = _render(tokenizer, talk[: n + 1], False, name)
        if not after.startswith(before):
            raise InputError(
                f"the chat template of {clip(str(tokenizer.name_or_path), 80)} does not append the"
                " assistant's turns",
                "give a model whose template does",
            )
        spans.append((len(before), after))
    rows = _rows(tokenizer, spans)
    for row in rows:
        if len(row["input_ids"]) > max_length:
            return []
    return rows


def _rows(tokenizer: Any, spans: Sequence[tuple[int, str]]) -> list[Example]:
    """Return one row for all turns if each rendering begins the last one, else a row for each turn.

    `spans` has for each turn of the assistant where it starts, and the rendering that ends with it.
    """
    whole = spans[-1][1]
    appends, places = True, []
    for start, after in spans:
        appends = appends and whole.startswith(after)
        places.append((start, len(after)))
    if appends:
        return [_tokens(tokenizer, whole, places)]
    rows = []
    for place, (_, after) in zip(places, spans, strict=True):
        rows.append(_tokens(tokenizer, after, [place]))
    return rows


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
    ids = list(map(int, read["input_ids"]))
    labels = []
    for token, (begin, end) in zip(ids, read["offset_mapping"], strict=True):
        labels.append(token if _overlaps(begin, end, spans) else IGNORED)
    return {"input_ids": ids, "labels": labels}


def _overlaps(begin: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    for start, stop in spans:
        if begin < stop and end > start:
            return True
    return False


def _load(folder: Path, torch: Any, transformers: Any) -> tuple[Any, Any]:
    read_config(folder)
    common = {"local_files_only": True, "trust_remote_code": False}
    kind = encoding_type(torch, torch_device(torch))
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **common)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, use_safetensors=True, dtype=kind, **common
        )
    except Exception as error:
        raise WeightsError(
            f"{folder.name} cannot be loaded as a chat model: {type(error).__name__}:"
            f" {clip(str(error), 200)}",
            remedy(error, "give a causal language model in safetensors"),
        ) from error
    if not tokenizer.chat_template or not tokenizer.is_fast:
        raise InputError(
            f"{folder.name} has no chat template or no fast tokeniser",
            "give a model that was tuned to converse",
        )
    # Where a model was loaded from is this machine's affair and stays out of the files that are written.
    model.config._name_or_path = model.name_or_path = tokenizer.name_or_path = folder.name
    return model, tokenizer
