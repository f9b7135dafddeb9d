"""Measure the search for pictures and the reading of words in pictures, on the public data sets.

The queries for pictures of the astronomy book are their captions, which are withheld from the index. Those
for lecture slides are the words of the speaker during the slide.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ragweave.components.context import Context
from ragweave.components.fusion import fused
from ragweave.components.local.rank import score_pools
from ragweave.corpora.store.library import Library
from ragweave.evals.data import read_jsonl
from ragweave.evals.metrics import mrr, recall_at
from ragweave.nodes.retrieve import ranked_lists

_LINK = re.compile(r"!\[[^\]]*\]\(\.\./images_astronomy/images/([^)]+)\)\n(\*.*\*)?")


@dataclass(frozen=True)
class PictureQuery:
    """A query and the picture that answers it, by the name of its file without the ending."""

    query: str
    gold: str


def astronomy(data: Path, work: Path) -> tuple[Path, list[PictureQuery]]:
    """Write the book with alternative texts and titles, captions withheld; return its folder and the queries.

    A picture with a link in a section appears there. Every other one appears under the heading of its module.
    """
    rows = read_jsonl(data / "images_astronomy" / "captions.jsonl", ["id", "file", "caption"])
    folder = work / "astronomy"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ".images").mkdir(parents=True)
    by_file = {}
    for row in rows:
        by_file[Path(str(row["file"])).name] = row
    for name, row in by_file.items():
        shutil.copyfile(data / "images_astronomy" / str(row["file"]), folder / ".images" / name)

    def link(name: str) -> str:
        row = by_file[name]
        return f'![{_bare(row["alt"])}](<.images/{name}> "{_bare(row["title"])}")'

    placed: set[str] = set()
    for source in sorted((data / "docs_astronomy").glob("*.md")):
        text = source.read_text(encoding="utf-8")
        for match in _LINK.finditer(text):
            placed.add(match[1])
        (folder / source.name).write_text(_LINK.sub(lambda m: link(m[1]), text), encoding="utf-8")
    modules: defaultdict[str, list[str]] = defaultdict(list)
    for name, row in by_file.items():
        if name not in placed:
            modules[str(row["module_title"])].append(name)
    for n, (title, names) in enumerate(sorted(modules.items())):
        body = "\n\n".join(map(link, names))
        (folder / f"module-{n:03}.md").write_text(f"# {title}\n\n{body}\n", encoding="utf-8")
    queries = []
    for row in rows:
        caption = str(row["caption"])
        if caption.strip():
            queries.append(PictureQuery(caption, Path(str(row["file"])).stem))
    return folder, queries


def _bare(text: object) -> str:
    """Return a text without brackets and double quotes, for a Markdown link."""
    return " ".join(str(text).replace("]", "").replace('"', "'").replace("[", "").split())


def slides(data: Path, work: Path) -> tuple[Path, list[PictureQuery]]:
    """Copy the slides under unique names; return their folder and the queries."""
    root = data / "slide_lectures_swc"
    folder = work / "slides"
    folder.mkdir(parents=True, exist_ok=True)
    for row in read_jsonl(root / "slides.jsonl", ["image"]):
        target = folder / f"{_slide(str(row['image']))}.png"
        if not target.exists():
            shutil.copyfile(root / str(row["image"]), target)
    rows = read_jsonl(root / "slide_queries.jsonl", ["query", "gold_image"])
    queries = []
    for row in rows:
        queries.append(PictureQuery(str(row["query"]), _slide(str(row["gold_image"]))))
    return folder, queries


def _slide(image: str) -> str:
    # A number says nothing of the content; the name of a lecture would.
    lecture, _, number = image.removeprefix("slides/").partition("/")
    return f"{hashlib.sha256(lecture.encode()).hexdigest()[:6]}-{Path(number).stem}"


async def measure(
    library: Library, asked: Sequence[PictureQuery], context: Context, name: str
) -> dict[str, float]:
    """Search the image corpus with every query; return R@1, R@5 and MRR, with `name` before their keys."""
    ranks = []
    queries = [a.query for a in asked]
    found = await library.search("image", queries, context.method.pool)
    for a, each in zip(asked, found, strict=True):
        pool = fused(ranked_lists("image", a.query, each), a.query, context)
        ids = [i for i, _ in pool]
        if context.method.reranks:
            (rows,), _ = await score_pools(library, a.query, [pool], context, 1)
            reranked = [row["id"] for row in rows]
            ids = list(dict.fromkeys(reranked + ids))
        items = await library.items(ids)
        order = []
        for i in ids:
            order.append(str(items[i].meta["own"]))
        ranks.append((recall_at(order, [a.gold], 1), recall_at(order, [a.gold], 5), mrr(order, [a.gold])))
    out = {}
    for key, column in zip(("r1", "r5", "mrr"), zip(*ranks, strict=True), strict=True):
        out[f"{name}_{key}"] = round(sum(column) / len(ranks), 4)
    return out


def reading(data: Path) -> dict[str, float]:
    """Compare the words that OCR reads on slides with a human transcript."""
    from ragweave.models.ocr import Ocr
    from ragweave.models.pictures import load

    transcripts, engine = transcribed(), Ocr()
    pairs = []
    for name, transcript in transcripts.items():
        picture = load((data / "slide_lectures_swc" / name).read_bytes())
        lines = [line.text for line in engine.lines(picture)]
        pairs.append((transcript, "\n".join(lines)))
    recall, words = word_recall(pairs)
    return {"ocr_word_recall": round(recall, 4), "ocr_words": words, "ocr_slides": len(transcripts)}


def word_recall(read: Iterable[tuple[str, str]]) -> tuple[float, int]:
    """Return the share of words that were read, repetitions included, and the number of words.

    `read` has pairs: the human transcript of a slide, and the words that OCR read.
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
    """Return the human transcripts of slides, by the path of the slide in its data set."""
    text = files("ragweave.evals").joinpath("slide_words.jsonl").read_text(encoding="utf-8")
    out = {}
    for line in text.splitlines():
        row = json.loads(line)
        out[row["image"]] = row["text"]
    return out
