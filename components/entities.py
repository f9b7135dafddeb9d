"""Extract entities by a model (RAGWEAVE_ENTITIES=llm): those of a chunk, names of one, one description."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pydantic import BaseModel

from ragweave.corpora.knowledge.facts import Extractor, Found
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.settings import corpora_settings
from ragweave.models.chat import chat
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


def extractor(meter: Meter | None = None) -> Extractor | None:
    """Return the model that extracts at indexing, or None if none shall or none is configured."""
    model = chat("judge") if corpora_settings().entities == "llm" else None
    if model is None:
        return None
    meter = meter or Meter()

    async def ask(text: str) -> Found:
        reply = await model.text(load("entities", text=quote(text)), node="entities", meter=meter)
        return read_records(reply)

    async def same(pairs: Sequence[tuple[str, str]]) -> set[int]:
        told = "\n\n".join(f"{n}.\n" + quote("\n".join(pair)) for n, pair in enumerate(pairs, 1))
        messages = load("unify", pairs=told)
        text = await model.text(messages, node="entities", meter=meter, good=partial(_reads, schema=Unified))
        reply = read_json(text, Unified)
        return {n - 1 for n in reply.same} if reply is not None else set()

    async def merge(things: Sequence[tuple[str, Sequence[str]]]) -> dict[int, str]:
        told = "\n\n".join(
            f"{n}.\n" + quote("\n".join((name, *said))) for n, (name, said) in enumerate(things, 1)
        )
        messages = load("merge_descriptions", things=told)
        good = partial(_reads, schema=MergedDescriptions)
        reply = await model.text(messages, node="entities", meter=meter, good=good)
        read = read_json(reply, MergedDescriptions)
        return {row.n - 1: row.description for row in read.merged} if read is not None else {}

    return Extractor(f"{model.name} at {model.host}", ask, same, merge)


def _reads(text: str, schema: type[BaseModel]) -> bool:
    return read_json(text, schema) is not None
