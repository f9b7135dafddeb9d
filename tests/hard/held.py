"""What the simulator of faults indexes, and a look at everything that a home holds."""

from __future__ import annotations

import asyncio
import hashlib
import random
import sqlite3
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, postgres
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import chunked, chunks
from ragweave.corpora.store.words import indexed
from ragweave.corpora.types import CORPORA
from ragweave.models import encoders
from ragweave.serve.conversations import in_database, latest


class Tiny:
    """An encoder of words hashed to places; its number is part of its space."""

    max_words = 60

    def __init__(self, name: str) -> None:
        self.name = name
        self.dim = 16 + 4 * int(name[-1])

    def texts(self, texts: Sequence[str]) -> encoders.Vectors:
        out = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(out, texts, strict=True):
            for word in text.lower().split():
                code = zlib.crc32((word + self.name).encode())
                row[code % self.dim] += 1 if code & 0x10000 else -1
        return encoders.normalise(out)

    queries = texts


def content(rng: random.Random, kind: str, token: str) -> bytes:
    """Return the bytes of a file that holds `token`; a picture shows none, and what is broken holds none."""
    if kind == ".png":
        import io

        from PIL import Image

        out = io.BytesIO()
        Image.new("RGB", (80, 60), tuple(rng.randbytes(3))).save(out, "png")
        return out.getvalue()
    if kind == ".pdf":
        return b"%PDF-1.4 no " + token.encode()
    said = f"The beacon of {token} was lit in {rng.randint(1500, 1999)}. "
    words = "aqueduct basilica citadel dolmen esplanade forum granary jetty kiln".split()
    rest = [" ".join(rng.choices(words, k=40)) + "." for _ in range(rng.randint(0, 4))]
    if kind == ".vtt":
        cues = [
            f"00:00:{n * 9:02}.000 --> 00:00:{n * 9 + 8:02}.000\n{line}"
            for n, line in enumerate([said, *rest])
        ]
        return ("WEBVTT\n\n" + "\n\n".join(cues) + "\n").encode()
    title = f"# Beacon {token}\n\n" if kind == ".md" and rng.random() < 0.5 else ""
    return (title + "\n\n".join([said, *rest]) + "\n").encode()


def on_disk(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder, by path."""
    paths = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def examine(home: Path) -> dict[str, Any]:
    """Return what a home holds: libraries by name, turns by conversation, and what is wrong with any of it."""
    wrong: list[str] = []
    catalog = Catalog(home)
    rows, failed = catalog.scan()
    wrong += [f"a library cannot be opened: {error}" for error in failed]
    if len({row.name for row in rows}) < len(rows):
        wrong.append("two libraries of one name")
    held = {row.name: _library(catalog, row, home, wrong) for row in rows}
    catalog.close()
    left = {p.name for p in (home / "libraries").glob("*")} - {row.id for row in rows}
    url, threads = corpora_settings().database, home / "threads.sqlite"
    if url:  # of a library that is deleted, the rows are under another name
        left |= {f"{name}.gone" for name in postgres.server(url)._schemas(postgres._GONE)}
    turns = asyncio.run(_conversations(url, threads, wrong)) if url or threads.exists() else {}
    return {"libraries": held, "turns": turns, "left": sorted(left), "wrong": wrong}


def _library(catalog: Catalog, row: Any, home: Path, wrong: list[str]) -> dict[str, Any]:
    own_encoder, name = Tiny(row.encoder), row.name
    with catalog.reading(row.id) as connection:
        ask = connection.exec_driver_sql
        checks = ("integrity_check", "foreign_key_check") if connection.dialect.name == "sqlite" else ()
        for pragma in checks:
            wrong += [f"{name}: {r[0]}" for r in ask(f"PRAGMA {pragma}") if r[0] != "ok"]
        ids = [str(i) for i in ask("SELECT id FROM items").scalars()]
        stored = ask("SELECT space, corpus, item || '~' || part, data FROM vectors").fetchall()
        words = {c: ask(f"SELECT rowid, title, text FROM {lexical.table(c)}").fetchall() for c in CORPORA}
        numbers = dict(map(tuple, ask("SELECT n, id FROM items")))
        items, sources = catalog.items(row.id, ids), catalog.sources(row.id)
    for corpus, found in words.items():
        mine = {i.id: i for i in items.values() if i.corpus == corpus}
        got = Counter(numbers.get(n, f"row {n}") for n, _, _ in found)
        if got != Counter(dict.fromkeys(mine, 1)):
            wrong.append(f"{name}: the words of {corpus} are not its items")
        for n, title, _ in found:
            item = mine.get(numbers.get(n, ""))
            if item and corpus == "paragraph" and title != indexed(item.title):
                wrong.append(f"{name}: {item.id} has the title {item.title!r} and the words {title!r}")
    texts = [i for i in items.values() if i.corpus in ("paragraph", "document", "clip", "video")]
    cut = chunked(texts, [chunks(i, own_encoder.max_words) for i in texts])
    should = {i: v for i, v in zip(cut.ids, own_encoder.texts(cut.texts), strict=True) if np.any(v)}
    have = {i: np.frombuffer(data, "<f4") for space, _, i, data in stored if space == row.encoder}
    if missing := len(should.keys() - have.keys()):
        wrong.append(f"{name}: {missing} of {len(should)} vectors are missing")
    if any(
        v.shape != (own_encoder.dim,) or not np.allclose(v, should[i], atol=1e-5)
        for i, v in have.items()
        if i in should
    ):
        wrong.append(f"{name}: vectors of another text")
    if stray := {
        i
        for space, _, i, _ in stored
        if not space.startswith("entities") and i.rpartition("~")[0] not in items
    }:
        wrong.append(f"{name}: {len(stray)} vectors without an item")
    media = Media(home / "libraries" / row.id / "media")
    for item in items.values():
        for value in item.meta.values():
            if isinstance(value, str) and value.startswith(item.source + "/"):
                try:
                    media.path(value)
                except Exception as error:
                    wrong.append(f"{name}: {error}")
    files = {p: s.sha256 for s in sources for p in s.paths}
    wrong += [
        f"{name}: {s.path} was read and holds nothing"
        for s in sources
        if s.status != "failed" and not s.items
    ]
    wrong += [f"{name}: a source without a path" for s in sources if not s.paths]
    return {
        "id": row.id,
        "encoder": row.encoder,
        "files": files,
        "titles": {i.source: i.title for i in items.values() if i.corpus == "paragraph"},
        "read": sorted(p for s in sources if s.items for p in s.paths),
        "named": {s.paths[0]: s.id for s in sources if s.paths},
        "items": len(items),
        "media": media.orphans(s.id for s in sources),
    }


async def _conversations(url: str, file: Path, wrong: list[str]) -> dict[str, int]:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from ragweave.graphs.run import build_agent

    found = {}
    try:
        if not url:
            with closing(sqlite3.connect(file)) as raw:
                wrong += [f"threads: {r[0]}" for r in raw.execute("PRAGMA integrity_check") if r[0] != "ok"]
        async with in_database(url) if url else AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            await saver.setup()
            agent = build_agent(checkpointer=saver)
            for thread in await latest(saver, 10**6):
                state = await agent.aget_state({"configurable": {"thread_id": thread}})
                found[thread] = sum(m.type == "ai" for m in state.values.get("messages", []))
    except Exception as error:
        wrong.append(f"threads cannot be read: {error!r}")
    return found
