"""Kill a run over videos again and again: what it holds in the end is what an undisturbed run holds.

The short form makes four small films and kills three times. RAGWEAVE_KILLS and RAGWEAVE_KILL_FILMS (a folder) choose
the long one, which listens and reads with the real senses.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragweave.corpora.video.ffmpeg import binary

pytestmark = pytest.mark.hard

KILLS = int(os.environ.get("RAGWEAVE_KILLS", "3"))
FILMS = os.environ.get("RAGWEAVE_KILL_FILMS", "")

RUN = """
import asyncio, sys, time
from pathlib import Path
if sys.argv[2] == "scripted":
    from ragweave.models import hear
    from ragweave.models.vad import RATE, Stretch
    import ragweave.corpora.video.listen as listen
    import numpy as np
    class Scripted:
        name = label = "whisper"
        longest, width = 5.0, 2
        def check(self): pass
        def close(self): pass
        def hear(self, sound, speech=1.0):
            time.sleep(0.15)
            return hear.Heard(f"level {int(np.abs(sound).sum()) % 1000} heard", (), 0.9, "en")
    def all_of_it(blocks, longest):
        held, start, step = np.zeros(0, np.int16), 0, int(longest * RATE)
        for block in blocks:
            held = np.concatenate([held, block])
            while len(held) >= step:
                yield Stretch(start, held[:step], 0.9)
                held, start = held[step:], start + step
    hear.hearer = lambda name=None: Scripted()
    listen.stretches = all_of_it
from ragweave.corpora.ingest import index
report = asyncio.run(index([Path(sys.argv[1])]))
sys.exit(3 if report.failed else 0)
"""

DUMP = """
import asyncio, json, sys
from dataclasses import asdict
from ragweave.corpora.library import open_library
from ragweave.corpora.media import Media
from ragweave.corpora.rows import pack
async def main():
    library = await open_library()
    rows, stored = [], {}
    for corpus in ("clip", "video"):
        for page in library._held.catalog.pages(library.id, corpus):
            rows += [{**pack(i), "n": 0} for i in page]
        row = library._held.catalog.row(library.id)
        stored[corpus] = library._held.vectors.ids(row.id, corpus, row.space, row.generation)
    sources = await library.sources()
    media = Media.of(library.id)
    files = {s.sha256: [(f, len(media.path(f).read_bytes())) for f in media.files(s.id)] for s in sources}
    rows.sort(key=lambda r: (r["source"], r["corpus"], r["ordinal"]))
    print(json.dumps({"rows": rows, "vectors": stored, "media": files, "status": [s.status for s in sources]}))
asyncio.run(main())
"""


def environment(home: Path) -> dict[str, str]:
    senses = {} if FILMS else {"RAGWEAVE_OCR": "off"}
    path = os.pathsep.join(p for p in sys.path if p)
    return {**os.environ, **senses, "RAGWEAVE_HOME": str(home), "RAGWEAVE_LOCK_WAIT": "60", "PYTHONPATH": path}


def started(home: Path, films: Path) -> subprocess.Popen[bytes]:
    how = "real" if FILMS else "scripted"
    return subprocess.Popen([sys.executable, "-c", RUN, str(films), how], env=environment(home), cwd="/")


def content(home: Path) -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", DUMP], env=environment(home), cwd="/", capture_output=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_killed_runs_end_with_the_content_of_an_undisturbed_one(tmp_path: Path) -> None:
    films = Path(FILMS) if FILMS else _made(tmp_path / "films")
    began = time.monotonic()
    assert started(tmp_path / "calm", films).wait(3600) == 0
    lasted = time.monotonic() - began
    rng = random.Random(int(os.environ.get("RAGWEAVE_KILL_SEED", "7")))
    for _ in range(KILLS):
        run = started(tmp_path / "killed", films)
        try:
            # Later kills find less and less to do: the whole run is hit, its end as well.
            run.wait(rng.uniform(0.1, 1.0) * max(4.0, lasted / 2))
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()
    assert started(tmp_path / "killed", films).wait(3600) == 0
    calm, killed = content(tmp_path / "calm"), content(tmp_path / "killed")
    assert killed == calm
    assert calm["rows"]


def _made(folder: Path) -> Path:
    folder.mkdir()
    for n in range(4):
        seconds = 45 + 20 * n
        picture = f"testsrc=size=160x120:rate=10:duration={seconds}"
        tone = f"sine=frequency={300 + 40 * n}:sample_rate=16000:duration={seconds}"
        given = ["-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", tone, "-pix_fmt", "yuv420p"]
        subprocess.run([binary(), "-v", "error", *given, str(folder / f"film{n}.mp4")], check=True)
    return folder
