"""Measure the entity graph, its cost and its ranking: `python benchmarks/entities.py DATA [--work FOLDER]`.

Costs are CPU milliseconds for a graph of 300 and of 10,000 entities, each named in five chunks on average:
reading it once a generation, then the neighbours of one entity from the graph and from the catalog in SQL.
For the ranking, the program indexes twelve episodes of a podcast from DATA, the folder of the public data
sets, with an extractor that takes capitalised names and joins those that follow each other. It prints the
share of questions whose clip is among one, ten and fifty.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from printed import run
from recorded import asked

_NAME = re.compile(r"(?<![.?!] )(?<!^)\b[A-Z][\w-]+(?: [A-Z][\w-]+){0,3}")


def milliseconds(work: Callable[[], object], times: int = 5) -> float:
    """Return the median of some runs."""
    taken = []
    for _ in range(times):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return sorted(taken)[times // 2] * 1000


def by_sql(connection: Any, key: str) -> list[tuple[str, float, str, str]]:
    """Return the ten neighbours of an entity with their weights, most common names and types."""
    from sqlalchemy import select

    from ragweave.corpora.store.schema import mentions, relations

    joined: Counter[str] = Counter()
    ends = (relations.c.head, relations.c.tail)
    for near, far in (ends, ends[::-1]):
        for other, weight in connection.execute(select(far, relations.c.weight).where(near == key)):
            joined[other] += weight
    out = []
    for other, weight in joined.most_common(10):
        named = select(mentions.c.name, mentions.c.kind).where(mentions.c.entity == other)
        names, kinds = zip(*connection.execute(named).all(), strict=True)
        out.append((other, weight, most_common(names), most_common(kinds)))
    return out


def most_common(values: Sequence[str]) -> str:
    """Return the most common of some texts."""
    return Counter(values).most_common(1)[0][0]


async def cost(folder: Path, many: int) -> dict[str, float]:
    """Return the milliseconds for a graph of so many entities."""
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.knowledge import graph as module
    from ragweave.corpora.knowledge.facts import Entity, Relation, facts_of
    from ragweave.corpora.knowledge.store import put
    from ragweave.corpora.store.stores import stores

    chance, name = random.Random(many), f"of{many}"
    (folder / name).mkdir()
    (folder / name / "talk.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:04.000\nNothing.\n", encoding="utf-8")
    await index([folder / name], name)
    catalog = stores().catalog
    row = catalog.library(name)
    [source] = catalog.sources(row.id)
    size = 50
    for n in range(5 * many // size):
        names = [f"Entity {chance.randrange(many)}" for _ in range(size)]
        text, places = f"It occurs in chunk {n}.", ((f"i{n}", 1),)
        entities = [Entity(name, "thing", text, places) for name in names]
        relations = [Relation(a, b, "They met.", 2.0) for a, b in pairwise(names)]
        facts = facts_of(entities, relations)
        put(catalog, row.id, source.id, f"c{n}", facts, "")
    read = []
    for _ in range(3):
        with catalog.reading(row.id) as connection:
            read.append(milliseconds(lambda: module._read(connection), 1))
    graph = module.entity_graph(catalog, row.id)
    keys = chance.sample([*graph], 20)
    with catalog.reading(row.id) as connection:
        sql = milliseconds(lambda: [by_sql(connection, key) for key in keys]) / len(keys)
    neighbours = milliseconds(lambda: [module.around(graph, key) for key in keys]) / len(keys)
    return {
        f"{many} read": sorted(read)[1],
        f"{many} neighbours": neighbours,
        f"{many} neighbours by SQL": sql,
        f"{many} communities": milliseconds(lambda: module.overview(graph), 3),
    }


async def by_names(text: str) -> Any:
    """Extract capitalised names without a language model, each joined with the one before."""
    from ragweave.corpora.knowledge.facts import Entity, Relation

    names = list(dict.fromkeys(_NAME.findall(text)))
    relations = [Relation(a, b) for a, b in pairwise(names)]
    return list(map(Entity, names)), relations


async def ranks(data: Path, folder: Path) -> dict[str, float]:
    """Return how often the clip of the answer is among one, ten and fifty."""
    from ragweave.corpora.ingest.run import Models, index
    from ragweave.corpora.knowledge.facts import Extractor
    from ragweave.corpora.knowledge.search import ask_graph
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.video import NEAR, distance

    questions = [q for q in asked(data, folder, "podcast") if q.at is not None]
    await index([folder / "podcast"], "podcast", models=Models(extractor=Extractor("names", by_names)))
    library = await open_library("podcast")
    out: dict[str, float] = {"questions": len(questions)}
    hits: Counter[int] = Counter()
    begin = time.process_time()
    for q in questions:
        found = await ask_graph(library, q.text, q.text)
        items = await library.items([id for id, _ in found])
        right: list[bool] = []
        for id, _ in found:
            is_video = items[id].title in q.videos
            right.append(is_video and distance(items[id].locator, q.at) <= NEAR)
        for k in (1, 10, 50):
            hits[k] += any(right[:k])
    for k in (1, 10, 50):
        out[f"clip R@{k}"] = hits[k] / len(questions)
    out["ms a question"] = (time.process_time() - begin) * 1000 / len(questions)
    return out


async def measure(folder: Path, given: argparse.Namespace) -> Mapping[str, Any]:
    """Return all figures."""
    import os

    os.environ["RAGWEAVE_ENTITIES"] = "llm"
    figures = {**await cost(folder, 300), **await cost(folder, 10_000)}
    return figures | (await ranks(given.data, folder))


if __name__ == "__main__":
    run(__doc__, measure, lambda parser: parser.add_argument("data", type=Path))
