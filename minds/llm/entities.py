"""Extract entities and relations from a chunk with a language model, and put long descriptions in short.

Rules are the other maker (`corpora/knowledge/small.py`); which of them works at indexing is RAGWEAVE_ENTITIES.
"""

from __future__ import annotations

from ragweave.corpora.knowledge.facts import Extractor, Found
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.settings import corpora_settings
from ragweave.models.chat import chat
from ragweave.models.meter import Meter
from ragweave.models.text import clip
from ragweave.prompts import load, quote

_SHOWN = 12_000
"""Characters of descriptions that a summary is made from."""


def extractor() -> Extractor | None:
    """Return the language model that extracts at indexing, or None where rules do, or none is configured."""
    model = chat("judge") if corpora_settings().entities == "llm" else None
    if model is None:
        return None

    async def ask(text: str) -> Found:
        reply = await model.text(load("entities", text=quote(text)), node="entities", meter=Meter())
        return read_records(reply)

    return Extractor(f"{model.name} at {model.host}", ask)


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
