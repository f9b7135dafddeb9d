"""Extract entities and relations from a chunk with a language model, and put long descriptions in short.

Rules are the other maker (`corpora/knowledge/small.py`); which of them works at indexing is RAGWEAVE_ENTITIES.
"""

from __future__ import annotations

from ragweave.corpora.knowledge.facts import Extractor, Found, Relation, key_of
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.settings import corpora_settings
from ragweave.models.chat import Chat, chat
from ragweave.models.meter import Meter
from ragweave.models.text import clip
from ragweave.prompts import load, quote

_SHOWN = 12_000
"""Characters of descriptions that a summary is made from."""


def extractor() -> Extractor | None:
    """Return the language model that extracts at indexing, or None where rules do, or none is configured."""
    settings = corpora_settings()
    model = chat("judge") if settings.entities == "llm" else None
    if model is None:
        return None
    rounds = settings.gleanings

    async def ask(text: str) -> Found:
        return await extract(model, text, rounds, Meter())

    return Extractor(f"{model.name} at {model.host}, {rounds} gleanings", ask)


async def extract(model: Chat, text: str, gleanings: int, meter: Meter) -> Found:
    """Return what a chunk says; each gleaning asks for what was missed, and ends early where it brings nothing new.

    Args:
        model: chat model.
        text: the chunk.
        gleanings: further rounds, 0 to 5; the published system has one.
        meter: budget.

    Raises:
        ModelError: the model fails.
    """
    messages = load("entities", text=quote(text))
    reply = await model.text(messages, node="entities", meter=meter)
    entities, relations = read_records(reply)
    for _ in range(gleanings):
        messages = [*messages, ("assistant", reply), *load("entities_more")]
        reply = await model.text(messages, node="entities", meter=meter)
        more, joined = read_records(reply)
        fresh = [e for e in more if key_of(e.name) not in {key_of(k.name) for k in entities}]
        new = [r for r in joined if _pair(r) not in {_pair(k) for k in relations}]
        if not fresh and not new:
            break
        entities, relations = [*entities, *fresh], [*relations, *new]
    return entities, relations


def _pair(relation: Relation) -> tuple[str, ...]:
    return tuple(sorted((key_of(relation.head), key_of(relation.tail))))


async def summarise(name: str, descriptions: list[str]) -> str | None:
    """Return descriptions of one entity as one, or None where no model is configured or it says nothing.

    Raises:
        ModelError: the model fails.
    """
    model = chat("judge")
    if model is None:
        return None
    listed = clip("\n".join(f"- {d}" for d in descriptions), _SHOWN)
    messages = load("entities_summary", entity=name, descriptions=quote(listed))
    said = await model.text(messages, node="entities", meter=Meter())
    return " ".join(said.split()) or None
