"""Files made to break a reader: each is read or refused with its sentence, and the run goes on."""

# ruff: noqa: E501 - a hostile file is easier to read on one line

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.worker import WALL
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import open_library
from ragweave.models.errors import SourceError
from ragweave.tests.support.hostile_packages import (
    boxes,
    flipped,
    laughs,
    nesting,
    outside_entities,
    pdf_bombs,
    truncated,
    zip_bombs,
    zip_slips,
)
from ragweave.tests.support.hostile_parts import Files
from ragweave.tests.support.hostile_texts import (
    bait,
    encodings,
    liars,
    long_lines,
    mails,
    names,
    notebooks,
    sparse,
    tables,
    zeros,
)

pytestmark = [pytest.mark.hard, pytest.mark.xdist_group("in time")]

LIMIT = 20.0 if int(os.environ.get("TEST_KILLS", "10")) >= 100 else 6.0
"""Seconds for one file; the short form has no time to wait for the slowest."""
CANARY = "xanthophyll-canary"
"""Stands in a file outside the folder; nothing may carry it in."""

CLASSES: dict[str, Callable[..., Files]] = {
    "zip bombs": zip_bombs,
    "billion laughs": laughs,
    "outside entities and includes": outside_entities,
    "zip slip": zip_slips,
    "deep nesting": nesting,
    "truncated at every tenth": truncated,
    "random bytes exchanged": flipped,
    "PDF fonts, images, streams, rings": pdf_bombs,
    "1 GiB of nothing": sparse,
    "null bytes": zeros,
    "names": names,
    "bait for regular expressions": bait,
    "encodings": encodings,
    "tables": tables,
    "mail": mails,
    "not what they say": liars,
    "notebooks": notebooks,
    "archives in archives": boxes,
    "long lines": long_lines,
}


def special(folder: Path, outside: Path) -> list[Path]:
    """Make links, pipes and the like; each has to be left out, or to be read where it lies."""
    made = []
    for name, target in {
        "to a file outside.md": outside, "to the folder outside": outside.parent, "to passwd.txt": Path("/etc/passwd"), "to nothing.md": Path("gone"),
        "to itself.md": Path("to itself.md"), "to zeros.txt": Path("/dev/zero"), "to the root": Path("/"), "up": Path(".."), "proc.txt": Path("/proc/self/environ"),
    }.items():  # fmt: skip
        (folder / name).symlink_to(target)
        made.append(folder / name)
    os.mkfifo(folder / "pipe.md")
    with socket.socket(socket.AF_UNIX) as door:
        here = os.getcwd()
        os.chdir(folder)  # the name of a socket may have 107 characters
        door.bind("socket.md")
        os.chdir(here)
    (folder / "folder.md").mkdir()
    (folder / "chain a.md").symlink_to("chain b.md")
    (folder / "chain b.md").symlink_to(outside)
    return [*made, folder / "pipe.md", folder / "socket.md", folder / "chain a.md", folder / "chain b.md"]


def lay_out(root: Path, outside: Path) -> dict[str, list[Path]]:
    """Write every file into a folder of its class."""
    made: dict[str, list[Path]] = {}
    for title, make in CLASSES.items():
        folder = root / title
        folder.mkdir(parents=True)
        made[title] = []
        for name, data in make(outside) if make is outside_entities else make():
            path = folder / name.removesuffix(".sparse")
            path.write_bytes(data)
            if name.endswith(".sparse"):
                os.truncate(path, 2**30)
            made[title].append(path)
    folder = root / "links and devices"
    folder.mkdir()
    made[folder.name] = special(folder, outside)
    return made


def everything(folder: Path) -> set[Path]:
    """Return every path below a folder, the home left out."""
    return {p for p in folder.rglob("*") if p.relative_to(folder).parts[0] != "home"}


async def test_hostile_files_are_read_or_refused_and_nothing_else_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside" / "secret.md"
    outside.parent.mkdir()
    outside.write_text(f"# Secret\n\n{CANARY}\n")
    root = tmp_path / "root" / "files"
    made = lay_out(root, outside)
    good = root / "good.md"
    good.write_text("# Good\n\nThe lighthouse stood on Pharos.\n")
    before = everything(tmp_path)
    monkeypatch.setenv("RAGWEAVE_PARSE_SECONDS", str(LIMIT))
    monkeypatch.setenv("RAGWEAVE_PARSE_MEMORY_MB", "2048")
    monkeypatch.setenv("RAGWEAVE_PARSE_WORKERS", "1")
    corpora_settings.cache_clear()
    took: dict[str, float] = {}
    ended: list[str] = []
    read = Readers.read

    def timed(self: Readers, path: str, *given: object, **more: object) -> object:
        began = time.monotonic()
        try:
            return read(self, path, *given, **more)
        except SourceError as error:
            if "ended the reading process" in str(error):
                ended.append(path)
            raise
        finally:
            took[path] = time.monotonic() - began

    monkeypatch.setattr(Readers, "read", timed)
    report = await index([root])

    library = await open_library()
    sources = {path: s for s in await library.sources() for path in s.paths}
    said = {**dict(report.failed), **{str(p): why for p, why in report.skipped}}
    said = {p: why for p, why in said.items() if p not in sources or sources[p].status == "failed"}
    files = [p for paths in made.values() for p in paths]
    silent = [
        p for p in map(str, files) if (p not in sources or sources[p].status == "failed") and p not in said
    ]
    after = everything(tmp_path)
    [lists] = await library.search("paragraph", ["canary xanthophyll root daemon bin nologin"], 200)
    texts = [i.text for i in (await library.items([h.id for h in (*lists.dense, *lists.lexical)])).values()]
    escapes = [t for t in texts if CANARY in t or "root:x:0:0" in t]
    print(f"\n{len(files)} hostile files, {len(said)} refused, slowest {max(took.values()):.1f} s")
    assert len(files) >= 200 and len(made) >= 20
    assert not silent, silent
    assert not ended, ended
    assert after == before
    assert not escapes
    assert all(t <= WALL * LIMIT + 5 for t in took.values())
    assert all(why.endswith(".") or p in {str(s) for s, _ in report.skipped} for p, why in said.items())
    [lists] = await library.search("paragraph", ["lighthouse on Pharos"])
    found = await library.items([h.id for h in lists.lexical])
    assert str(good) in {i.locator["file"] for i in found.values()}
