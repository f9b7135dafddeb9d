"""Makes the home that the page is tested on: `python stage.py HOME FOLDER`.

Two libraries: `default`, indexed from notes, a PDF and hostile files; and `media`, whose picture and recording are put
into the catalog as rows, with a kept conversation that cites them.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from ragweave.corpora.ingest import index
from ragweave.corpora.library import create_library
from ragweave.corpora.rows import pack
from ragweave.corpora.schema import items, paths, sources, write
from ragweave.corpora.stores import stores
from ragweave.corpora.types import Item, Locator
from ragweave.nodes.answer import Answer, Citation, Sentence
from ragweave.serve.opening import answer_with_openings
from ragweave.serve.runs import new_thread
from ragweave.serve.store import Store

COUNCIL = Path(__file__).resolve().parents[2] / "examples" / "library" / "council-2024.pdf"
LIGHTHOUSE = """# The lighthouse

## Site

The lighthouse stands on the western cape, forty minutes on foot from the harbour.

## History

The tower was ordered after two boats were lost on the reef. The lamp of the lighthouse was first lit on 3 October 1874.

## Keepers

Three families shared the watch, each taking four hours of the night in turn.
"""
HOSTILE = """Beacon <script>window.stolen = 1</script> <img src=x onerror="window.stolen = 2">

The beacon password is <b onclick="window.stolen = 3">swordfish</b> and the beacon is \
<img src=x onerror="window.stolen = 4"> painted red. \
The beacon manual is at [the beacon manual](javascript:window.stolen=5) for the beacon.
"""


def picture(path: Path) -> None:
    """Draw a plan with a red square at 60..140 of 400 x 300 pixels."""
    with Image.new("RGB", (400, 300), "#eef2f0") as drawn:
        pen = ImageDraw.Draw(drawn)
        pen.rectangle((60, 60, 140, 140), fill="#c0392b")
        pen.line((0, 220, 400, 180), fill="#2c5f8a", width=14)
        pen.text((70, 150), "PUMP HOUSE", fill="#222222")
        drawn.save(path)


def recording(path: Path) -> None:
    """Make nine seconds of a test picture in a form that every Chromium plays."""
    from imageio_ffmpeg import get_ffmpeg_exe

    given = ["-f", "lavfi", "-i", "testsrc=duration=9:size=320x180:rate=10"]
    form = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "200k", "-g", "10"]
    subprocess.run([get_ffmpeg_exe(), "-v", "error", "-y", *given, *form, str(path)], check=True)


def put(library: str, path: Path, kind: str, item: Item) -> None:
    """Put a source with one item into the catalog."""
    seen = path.stat()
    source = {
        "library": library, "id": item.source, "kind": kind, "title": item.title, "status": "ok", "reason": "",
        "bytes": seen.st_size, "sha256": "", "params_hash": "", "warnings": [], "author": "", "language": "en",
        "date": None, "indexed_at": datetime.now(UTC).isoformat(),
    }  # fmt: skip
    place = {
        "library": library, "path": str(path), "source": item.source, "size": seen.st_size, "mtime_ns": 0,
        "ctime_ns": 0, "inode": 0, "checked_at": 0.0,
    }  # fmt: skip
    with write(stores().catalog.engine) as connection:
        connection.execute(sources.insert(), source)
        connection.execute(paths.insert(), place)
        connection.execute(items.insert(), {**pack(item), "library": library, "n": int(item.source[-1]) + 10_000})


def item(n: int, corpus: Any, title: str, text: str, locator: Locator) -> Item:
    """Return an item of a source that holds nothing else."""
    return Item(f"item-{n}", corpus, f"{n:024d}", title, text, locator)


async def media(home: Path, folder: Path) -> None:
    """Make the library `media` and a conversation that cites all it holds, and a web page."""
    await create_library("media")
    row = next(r for r in stores().catalog.libraries() if r.name == "media")
    picture(folder / "plan.png")
    recording(folder / "talk.webm")
    plan = item(1, "image", "Plan of the harbour", "PUMP HOUSE", {"kind": "image", "file": str(folder / "plan.png")})
    when: Locator = {"kind": "time", "file": str(folder / "talk.webm"), "start": 4.0, "end": 6.0}
    talk = item(2, "clip", "The harbour talk", "The pump was replaced in spring.", when)
    put(row.id, folder / "plan.png", "png", plan)
    put(row.id, folder / "talk.webm", "webm", talk)
    web: Locator = {"kind": "url", "url": "https://pumps.example/a?b=1#c", "fetched": "2026-03-02T08:05:00+00:00"}
    places: list[tuple[str, Locator, str, str]] = [
        (plan.id, {**plan.locator, "bbox": [60, 60, 140, 140]}, plan.title, "PUMP HOUSE"),
        (talk.id, talk.locator, talk.title, "The pump was replaced in spring."),
        ("web-1", web, "Pumps of the world", "Pumps last for twenty years."),
    ]
    cited = tuple(
        Citation(n=n, id=i, title=title, locator=where, quote=quote, origin="web" if "url" in where else "library")
        for n, (i, where, title, quote) in enumerate(places, 1)
    )
    texts = ("The pump house is red.", "The pump was replaced in spring.", "Pumps last for twenty years.")
    said = tuple(Sentence(text=t, support="supported", citations=(n,)) for n, t in enumerate(texts, 1))
    own = Sentence(text="Pumps move water.", support="model")
    question = "What about the pump?"
    answer = Answer(question=question, text=" ".join(texts), sentences=(*said, own), citations=cited)
    store = Store(home / "serve.sqlite")
    from ragweave.serve.access import Caller

    thread = new_thread(Caller(), row, question)
    store.add_thread(thread)
    turn = store.add_turn(thread.id, "run-of-old", "agent", question, question)
    store.set_turn(thread.id, turn, "done", answer=await answer_with_openings(row, answer))


async def main(home: Path, folder: Path) -> None:
    """Make everything."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    (notes / "lighthouse.md").write_text(LIGHTHOUSE, encoding="utf-8")
    (notes / "<img src=x onerror=window.stolen=6>.txt").write_text(HOSTILE, encoding="utf-8")
    (notes / COUNCIL.name).write_bytes(COUNCIL.read_bytes())
    await index([notes], "default")
    await media(home, folder)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
