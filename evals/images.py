"""Pictures found by what is written about them, and words read in pictures: figures on the public data sets.

Pictures of the astronomy book are asked for by their captions, which are withheld from the index; slides of lectures
by what was said while they were shown.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from ragweave.corpora.ingest.run import index
from ragweave.corpora.parts import PARTS, compose, part
from ragweave.corpora.store.commit import Committer, Outcome
from ragweave.corpora.store.files import File, Stat
from ragweave.corpora.store.library import Library, create_library, open_library
from ragweave.corpora.store.prepared import dense_texts, made_of
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item
from ragweave.evals.data import read_jsonl
from ragweave.evals.metrics import mrr, recall_at
from ragweave.minds.context import Context
from ragweave.minds.fusion import fused
from ragweave.minds.small.rank import score_items
from ragweave.models.embed import encoder
from ragweave.nodes.retrieve import ranked_lists

_LINK = re.compile(r"!\[[^\]]*\]\(\.\./images_astronomy/images/([^)]+)\)\n(\*.*\*)?")


@dataclass(frozen=True)
class Asked:
    """A query and the picture that answers it, by the name of its file without the ending."""

    query: str
    gold: str


@dataclass(frozen=True)
class Found:
    """How well the queries of a set found their pictures."""

    r1: float
    r5: float
    mrr: float

    def flat(self, name: str) -> dict[str, float]:
        """Return the figures under a name."""
        return {f"{name}_r1": self.r1, f"{name}_r5": self.r5, f"{name}_mrr": self.mrr}


def astronomy(
    data: Path, work: Path, alt: Sequence[str] = ("alt",), caption: Sequence[str] = ("title",)
) -> tuple[Path, list[Asked]]:
    """Write the book with some of what is said of its pictures, and return its folder and the queries.

    A picture that a section links to stands there; each other one stands under the heading of its module.

    Args:
        data: folder of the public data sets.
        work: folder to write to.
        alt: fields that make the alternative text.
        caption: fields that make the title of the link, which counts as caption.
    """
    rows = read_jsonl(data / "images_astronomy" / "captions.jsonl", ["id", "file", "caption"])
    folder = work / "astronomy"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ".images").mkdir(parents=True)
    by_file = {Path(str(r["file"])).name: r for r in rows}
    for name, row in by_file.items():
        shutil.copyfile(data / "images_astronomy" / str(row["file"]), folder / ".images" / name)

    def link(name: str) -> str:
        row = by_file[name]
        told, title = (
            " ".join(" ".join(str(row[k]) for k in fields).replace("]", "").replace('"', "'").replace("[", "").split())
            for fields in (alt, caption)
        )
        return f'![{told}](<.images/{name}> "{title}")'

    placed: set[str] = set()
    for source in sorted((data / "docs_astronomy").glob("*.md")):
        text = source.read_text(encoding="utf-8")
        placed.update(m[1] for m in _LINK.finditer(text))
        (folder / source.name).write_text(_LINK.sub(lambda m: link(m[1]), text), encoding="utf-8")
    modules: defaultdict[str, list[str]] = defaultdict(list)
    for name, row in by_file.items():
        if name not in placed:
            modules[str(row["module_title"])].append(name)
    for n, (title, names) in enumerate(sorted(modules.items())):
        body = "\n\n".join(link(name) for name in names)
        (folder / f"module-{n:03}.md").write_text(f"# {title}\n\n{body}\n", encoding="utf-8")
    return folder, [Asked(str(r["caption"]), Path(str(r["file"])).stem) for r in rows if str(r["caption"]).strip()]


def slides(data: Path, work: Path) -> tuple[Path, list[Asked], dict[str, str]]:
    """Copy the slides under names that tell them apart; return their folder, the queries, and what was said to each."""
    root = data / "slide_lectures_swc"
    folder = work / "slides"
    folder.mkdir(parents=True, exist_ok=True)
    said: dict[str, str] = {}
    for row in read_jsonl(root / "slides.jsonl", ["image", "narration"]):
        name = _slide(str(row["image"]))
        said[name] = str(row["narration"])
        target = folder / f"{name}.png"
        if not target.exists():
            shutil.copyfile(root / str(row["image"]), target)
    asked = [
        Asked(str(r["query"]), _slide(str(r["gold_image"])))
        for r in read_jsonl(root / "slide_queries.jsonl", ["query", "gold_image"])
    ]
    return folder, asked, said


def _slide(image: str) -> str:
    # A number says nothing of the content; the name of a lecture would.
    lecture, _, number = image.removeprefix("slides/").partition("/")
    return f"{hashlib.sha256(lecture.encode()).hexdigest()[:6]}-{Path(number).stem}"


async def indexed(folder: Path, name: str) -> Library:
    """Index a folder, or what has changed in it since the last run, and open the library."""
    await index([folder], name)
    return await open_library(name)


async def rewritten(base: Library, name: str, change: Any) -> Library:
    """Make a library of the pictures of another one, each with other text, without reading a file again.

    Args:
        base: library with the pictures.
        name: name of the new library; one of that name is replaced.
        change: takes an item and its parts, and returns the item and its parts.
    """
    from ragweave.corpora.store.library import delete_library, list_libraries

    if name in await list_libraries():
        await delete_library(name)
    await create_library(name)
    held, mind = stores(), encoder()
    row = held.catalog.library(name)
    outcomes = []
    by_source: defaultdict[str, list[Item]] = defaultdict(list)
    for page in held.catalog.pages(base.id, "image"):
        for item in page:
            by_source[item.source].append(_changed(item, change))
    for source, items in by_source.items():
        made = made_of("image", "", items, mind.max_words)
        file = File(f"/{source}", source, "0" * 64, Stat(1, 1, 1, 1, 1.0))
        outcomes.append(Outcome(file, made, mind.texts(dense_texts(made))))
    Committer(held.catalog, row, "evaluation").store(outcomes)
    return await open_library(name)


def _changed(item: Item, change: Any) -> Item:
    item, parts = change(item, {name: part(item, name) for name in PARTS})
    text, ranges = compose(cast(Mapping[str, str], parts))
    return replace(item, text=text, spans=(), meta={**item.meta, "parts": ranges})


def name_of(item: Item) -> str:
    """Return the name of a picture's own file, without the ending: it is what gold names."""
    return str(item.meta["own"])


async def measure(library: Library, asked: Sequence[Asked], names: Mapping[str, str], context: Context) -> Found:
    """Ask every query of the image corpus and compare with its gold picture.

    Args:
        library: holds the pictures.
        asked: queries.
        names: name of the picture's file by item id.
        context: knobs; with `rerank` the relevance model orders what was found.
    """
    ranks = []
    found = await library.search("image", [a.query for a in asked], context.method.pool)
    for a, each in zip(asked, found, strict=True):
        rows = ranked_lists("image", a.query, each)
        pool = fused(rows, a.query, context)
        if context.rerank:
            ids = [e["id"] for e in await score_items(library, a.query, pool, context, 1)]
            ids += [i for i, _ in pool if i not in set(ids)]
        else:
            ids = [i for i, _ in pool]
        order = [names[i] for i in ids]
        ranks.append((recall_at(order, [a.gold], 1), recall_at(order, [a.gold], 5), mrr(order, [a.gold])))
    r1, r5, rr = (round(sum(column) / len(ranks), 4) for column in zip(*ranks, strict=True))
    return Found(r1, r5, rr)


async def names_in(library: Library) -> dict[str, str]:
    """Return the name of the picture's file of every item, which the name of its copy does not tell."""
    return {i.id: name_of(i) for page in stores().catalog.pages(library.id, "image") for i in page}


def without(*dropped: str) -> Any:
    """Return a change that takes text sources away: parts, `name`, or `heading` with the title."""

    def change(item: Item, parts: dict[str, str]) -> tuple[Item, dict[str, str]]:
        if "name" in dropped:
            item = replace(item, meta={**item.meta, "name": ""})
        if "heading" in dropped:
            item = replace(item, title="", heading=())
        return item, {name: text for name, text in parts.items() if name not in dropped}

    return change


def around(said: Mapping[str, str], own: bool) -> Any:
    """Return a change that puts what was said around slides beside them.

    Args:
        said: narration by slide.
        own: also what was said to the slide itself, which is what the queries are made of.
    """
    order = sorted(said)
    beside = {a: (b, c) for a, b, c in zip(order, [order[0], *order], [*order[1:], order[-1]], strict=False)}

    def change(item: Item, parts: dict[str, str]) -> tuple[Item, dict[str, str]]:
        name = name_of(item)
        before, after = (n if n[:6] == name[:6] and n != name else "" for n in beside[name])
        texts = [said.get(before, ""), said[name] if own else "", said.get(after, "")]
        return item, {**parts, "around": "\n\n".join(filter(None, texts))}

    return change


def word_recall(read: Iterable[tuple[str, str]]) -> tuple[float, int]:
    """Return the share of words that were read, each as often as it stands there, and how many there are.

    Args:
        read: pairs of the words of a slide as written down by eye, and of what was read.
    """
    hit = total = 0
    for wanted, got in read:
        want, have = Counter(_words(wanted)), Counter(_words(got))
        hit += sum((want & have).values())
        total += sum(want.values())
    return (hit / total if total else 0.0), total


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def transcribed() -> dict[str, str]:
    """Return the words of slides that were written down by eye, by the path of the slide in its data set."""
    text = files("ragweave.evals").joinpath("slide_words.jsonl").read_text(encoding="utf-8")
    return {row["image"]: row["text"] for row in map(json.loads, text.splitlines())}
