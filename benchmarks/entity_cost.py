"""Count what building the entity graph asks of a chat model: `python benchmarks/entity_cost.py DATA`.

The recordings are those of `ragweave bench video-rag --claim`: six lectures and two episodes of a podcast.
Their entities come from the kept replies of a simulated model. Every prompt is that of a real model; a merged
description is played by the longest of its lines. Tokens are estimates of four bytes each. A model
that thinks before it replies takes more output tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from printed import run

_BLOCK = re.compile(r"(\d+)\.\n<<<(.*?)>>>", re.S)


def quoted(prompt: str) -> str:
    """Return the text between the marks of a prompt's quotation."""
    return prompt.partition("<<<")[2].rpartition(">>>")[0]


def merged(prompt: str) -> str:
    """Return the reply to a prompt that merges descriptions: the longest line of each thing."""
    rows = []
    for number, block in _BLOCK.findall(prompt):
        lines = block.strip().split("\n")[1:]
        rows.append({"n": int(number), "description": max(lines, key=len, default="")})
    return json.dumps({"merged": rows})


class Counted:
    """Replies of a simulated model, with the calls and the tokens of each kind of prompt."""

    def __init__(self, replies: Any) -> None:
        self.replies = replies
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()

    def reply(self, kind: str, messages: list[tuple[str, str]]) -> str:
        """Return the reply to a prompt of a kind, and count both."""
        from ragweave.models.chat_reply import tokens_of

        prompt = messages[-1][1]
        if kind == "entities":
            text = self.replies.reply("entities", quoted(prompt)) or ""
        elif kind == "unify":
            text = '{"same": []}'
        else:
            text = merged(prompt)
        self.calls[kind] += 1
        for _, said in messages:
            self.tokens["input"] += tokens_of(said)
        self.tokens["output"] += tokens_of(text)
        return text


class Played:
    """What `chat("judge")` returns: a model that replies from a count."""

    name, host = "a simulated model", "kept replies"

    def __init__(self, counted: Counted) -> None:
        self._counted = counted

    async def text(self, messages: list[tuple[str, str]], **options: Any) -> str:
        """Return the reply to a prompt; its system message says of which kind it is."""
        system = messages[0][1]
        kind = "unify" if '{"same"' in system else "merge" if '{"merged"' in system else "entities"
        return self._counted.reply(kind, messages)


async def measure(folder: Path, given: argparse.Namespace) -> Mapping[str, Any]:
    """Return the calls and tokens of the recordings, of an hour and of a megabyte of transcripts."""
    os.environ["RAGWEAVE_ENTITIES"], os.environ["RAGWEAVE_OCR"] = "llm", "off"
    from ragweave.components import entities
    from ragweave.components.reencoding import heard_seconds
    from ragweave.corpora.ingest.run import Models, index
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.claims.common import lookup, read_rows
    from ragweave.evals.claims.video_library import REPLIES, KeptIndexing, write_recordings

    write_recordings(given.data, folder / "recordings")
    replies = KeptIndexing(lookup(read_rows(REPLIES), "key", "reply"), folder / "missing")
    counted = Counted(replies)
    entities.chat = lambda role: Played(counted)  # type: ignore[assignment, return-value]
    await index([folder / "recordings"], "cost", models=Models(extractor=entities.extractor()))
    library = await open_library("cost")
    spoken = 0
    for page in library.held.catalog.pages(library.id, "clip", 1_000):
        for item in page:
            spoken += len(item.text.encode())
    hours, megabytes = await heard_seconds() / 3600, spoken / 1e6
    calls = counted.calls.total()
    return {
        "hours of recordings": hours,
        "megabytes of transcript": megabytes,
        "replies that are not kept": len(list((folder / "missing").glob("*.json"))),
        "calls for entities": counted.calls["entities"],
        "calls to compare names": counted.calls["unify"],
        "calls to merge descriptions": counted.calls["merge"],
        "calls an hour": calls / hours,
        "input tokens an hour": counted.tokens["input"] / hours,
        "output tokens an hour": counted.tokens["output"] / hours,
        "calls a megabyte": calls / megabytes,
        "input tokens a megabyte": counted.tokens["input"] / megabytes,
        "output tokens a megabyte": counted.tokens["output"] / megabytes,
    }


if __name__ == "__main__":
    run(__doc__, measure, lambda parser: parser.add_argument("data", type=Path))
