"""Makes the home that the page is tested on: `python stage.py HOME FOLDER`.

Two libraries: `default`, indexed from notes, a PDF and hostile files; and `media`, from a picture and a
recording, with a kept conversation that cites a web page."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from ragweave.components.answer import Answer
from ragweave.components.evidence import Citation, Sentence
from ragweave.corpora.ingest.run import index
from ragweave.corpora.knowledge.facts import Entity, Relation, facts_of
from ragweave.corpora.knowledge.store import put
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Locator
from ragweave.serve.media import answer_with_openings
from ragweave.serve.run import new_thread
from ragweave.serve.store import Store, add_thread, begin_turn, set_turn

COUNCIL = Path(__file__).resolve().parents[2] / "examples" / "library" / "council-2024.pdf"
LIGHTHOUSE = """---
date: 2024-01-01
---
# The lighthouse

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

SUBTITLES = """WEBVTT

00:01.000 --> 00:08.000
Welcome to the talk about the harbour.

00:21.000 --> 00:26.000
The crane was replaced by Otto Brandt in spring.

00:30.000 --> 00:36.000
The mole was built of granite.
"""


def picture(path: Path) -> None:
    """Draw a plan of 800 x 600 pixels whose words stand at its left, in the middle."""
    with Image.new("RGB", (800, 600), "#eef2f0") as drawn:
        pen = ImageDraw.Draw(drawn)
        pen.rectangle((120, 120, 280, 280), fill="#c0392b")
        pen.line((0, 440, 800, 360), fill="#2c5f8a", width=24)
        pen.text(
            (120, 300), "The pump house holds two pumps.", fill="#222222", font=ImageFont.load_default(28)
        )
        drawn.save(path)


def recording(path: Path) -> None:
    """Make forty seconds of a test picture, in a form that every Chromium plays, with subtitles beside it."""
    from imageio_ffmpeg import get_ffmpeg_exe

    given = ["-f", "lavfi", "-i", "testsrc=duration=40:size=320x180:rate=10"]
    form = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "200k", "-g", "10"]
    subprocess.run([get_ffmpeg_exe(), "-v", "error", "-y", *given, *form, str(path)], check=True)
    path.with_suffix(".vtt").write_text(SUBTITLES, encoding="utf-8")


def graph(row: LibraryRow) -> None:
    """Store what a chat model would have found in the recording: who and what, and how they are joined."""
    catalog = stores().catalog
    (talk,) = [s for s in catalog.sources(row.id) if s.kind == "video"]
    clips = catalog.items_of(row.id, talk.id, "clip")
    said = tuple((clip.id, 1) for clip in clips if "crane" in clip.text)
    names = [
        Entity("Otto Brandt", "person", "A builder of the harbour.", said),
        Entity("Crane", "thing", "It stands at the harbour.", said),
        Entity("Harbour", "place", "", said),
    ]
    joined = [
        Relation("Otto Brandt", "Crane", "Otto Brandt replaced the crane.", 2),
        Relation("Crane", "Harbour"),
    ]
    put(catalog, row.id, talk.id, "c1", facts_of(names, joined), "")


async def media(home: Path, folder: Path) -> None:
    """Index a picture and a recording into `media`, and keep a conversation that cites a web page."""
    shown = folder / "harbour"
    shown.mkdir()
    picture(shown / "plan.png")
    recording(shown / "talk.webm")
    await index([shown], "media")
    row = next(r for r in stores().catalog.libraries() if r.name == "media")
    graph(row)
    web: Locator = {
        "kind": "url",
        "url": "https://pumps.example/a?b=1#c",
        "fetched": "2026-03-02T08:05:00+00:00",
    }
    text, question = "Pumps last for twenty years.", "What about the pump?"
    cited = Citation(n=1, id="web-1", title="Pumps of the world", locator=web, quote=text, origin="web")
    said = Sentence(text=text, support="verified", citations=(1,))
    own = Sentence(text="Pumps move water.", support="model")
    doubted = Sentence(text="Pumps are cheap.", support="unverified")
    denied = Sentence(text="Pumps last for two years.", support="contradicted", citations=(1,))
    answer = Answer(question=question, text=text, sentences=(said, own, doubted, denied), citations=(cited,))
    store = Store(home / "serve.sqlite")
    from ragweave.serve.access import Caller

    thread = new_thread(Caller(), row, question)
    told = await answer_with_openings(row, answer)
    with store.writing() as db:
        add_thread(db, thread)
        turn = begin_turn(db, thread.id, "run-of-old", "agent", question)
        set_turn(db, thread.id, turn, "done", answer=told)


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
