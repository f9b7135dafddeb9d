"""Extract entities and relations from a chunk with a language model, where RAGWEAVE_ENTITIES is llm."""

from __future__ import annotations

from ragweave.corpora.knowledge.facts import Extractor, Found
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.settings import corpora_settings
from ragweave.models.chat import chat
from ragweave.models.meter import Meter
from ragweave.prompts import load, quote


def extractor() -> Extractor | None:
    """Return the language model that extracts at indexing, or None where it shall not, or none is configured."""
    model = chat("judge") if corpora_settings().entities == "llm" else None
    if model is None:
        return None

    async def ask(text: str) -> Found:
        reply = await model.text(load("entities", text=quote(text)), node="entities", meter=Meter())
        return read_records(reply)

    return Extractor(f"{model.name} at {model.host}", ask)
