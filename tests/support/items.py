"""The items of a file, by granularity."""

from __future__ import annotations

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.split import split
from ragweave.corpora.types import Item


def paragraphs(source: str, file: str, parsed: Parsed) -> list[Item]:
    return [i for i in split(source, file, parsed) if i.corpus == "paragraph"]


def documents(source: str, file: str, parsed: Parsed) -> list[Item]:
    return [i for i in split(source, file, parsed) if i.corpus == "document"]
