"""Extract entities with a model (RAGWEAVE_ENTITIES=llm), unify their names, merge their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from pydantic import BaseModel

from ragweave.corpora.knowledge.facts import Extractor, Found
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.settings import corpora_settings
from ragweave.models.chat import Chat, chat
from ragweave.models.chat_json import read_json
from ragweave.models.meter import Meter
from ragweave.prompts import load, quote


class Unified(BaseModel):
    """What the model is asked for of pairs of names: the numbers of those that are of one thing."""

    same: list[int] = []


class Description(BaseModel):
    """What the model writes of one thing, by its number."""

    n: int
    description: str


class MergedDescriptions(BaseModel):
    """What the model is asked for of things that several passages speak of."""

    merged: list[Description] = []


def model_name() -> str:
    """Return the name and server of the model that would extract, or "" if no chat model is set up."""
    model = chat("judge")
    return _name(model) if model is not None else ""


def extractor(meter: Meter | None = None) -> Extractor | None:
    """Return the model that extracts at indexing, or None if that is off or no model is configured."""
    model = chat("judge") if corpora_settings().entities == "llm" else None
    if model is None:
        return None
    meter = meter or Meter()

    async def ask(text: str) -> Found:
        reply = await model.text(load("entities", text=quote(text)), node="entities", meter=meter)
        return read_records(reply)

    async def same(pairs: Sequence[tuple[str, str]]) -> set[int]:
        messages = load("unify", pairs=_numbered(pairs))
        good = partial(_is_readable, schema=Unified)
        text = await model.text(messages, node="entities", meter=meter, good=good)
        reply = read_json(text, Unified)
        if reply is None:
            return set()
        return {n - 1 for n in reply.same}

    async def merge(things: Sequence[tuple[str, Sequence[str]]]) -> dict[int, str]:
        blocks: list[Sequence[str]] = []
        for name, descriptions in things:
            blocks.append((name, *descriptions))
        messages = load("merge_descriptions", things=_numbered(blocks))
        good = partial(_is_readable, schema=MergedDescriptions)
        text = await model.text(messages, node="entities", meter=meter, good=good)
        reply = read_json(text, MergedDescriptions)
        merged: dict[int, str] = {}
        for row in reply.merged if reply is not None else []:
            merged[row.n - 1] = row.description
        return merged

    return Extractor(_name(model), ask, same, merge)


def _name(model: Chat) -> str:
    return f"{model.name} at {model.host}"


def _numbered(blocks: Iterable[Sequence[str]]) -> str:
    """Return blocks of lines as numbered quotes."""
    quotes: list[str] = []
    for n, lines in enumerate(blocks, 1):
        quotes.append(f"{n}.\n" + quote("\n".join(lines)))
    return "\n\n".join(quotes)


def _is_readable(text: str, schema: type[BaseModel]) -> bool:
    return read_json(text, schema) is not None
