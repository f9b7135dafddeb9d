"""Reading again what earlier runs read without something, and texts whose pictures have changed; nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.images.reader import further
from ragweave.corpora.ingest.events import Report
from ragweave.corpora.ingest.run import index
from ragweave.corpora.parts import part
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item
from ragweave.models.settings import model_settings
from tests.corpora.images.conftest import GREEN, RED, Painted, picture  # type: ignore[import-not-found]


@pytest.fixture
def folder(tmp_path: Path, painted: Painted, read_here: None) -> Path:
    made = tmp_path / "notes"
    (made / ".img").mkdir(parents=True)
    (made / ".img" / "mole.png").write_bytes(picture(RED))
    (made / "port.md").write_text("# Port\n\nShips come in.\n\n![The mole](.img/mole.png)\n")
    (made / "plain.md").write_text("# Plain\n\nNothing is shown here.\n")
    return made


async def run(folder: Path) -> tuple[Report, list[str]]:
    read: list[str] = []

    def note(event: Any) -> None:
        if event.kind == "done":
            read.append(Path(event.path).name)

    return await index([folder], on_event=note), sorted(read)


def images() -> list[Item]:
    held = stores()
    row = held.catalog.library("default")
    return [item for page in held.catalog.pages(row.id, "image") for item in page]


def ocr(monkeypatch: pytest.MonkeyPatch, how: str, engine: object) -> None:
    monkeypatch.setenv("RAGWEAVE_OCR", how)
    model_settings.cache_clear()
    monkeypatch.setattr("ragweave.corpora.images.reader.ocr", lambda: engine)


async def test_a_text_is_read_again_when_a_picture_that_it_links_to_changes_comes_or_goes_and_no_other(
    folder: Path,
) -> None:
    mole = folder / ".img" / "mole.png"
    await run(folder)
    assert (await run(folder))[1] == []
    mole.write_bytes(picture(GREEN))
    assert (await run(folder))[1] == ["port.md"]
    [shown] = images()
    assert part(shown, "words") == "Green valley"
    held = stores()
    row = held.catalog.library("default")
    chunks = held.vectors.ids(row.id, "image", row.encoder)
    assert {c.rpartition("~")[0] for c in chunks} == {shown.id}
    os.utime(mole, (1, 1))
    assert (await run(folder))[1] == []
    mole.unlink()
    assert (await run(folder))[1] == ["port.md"]
    assert not [i for i in images() if "image" in i.locator]
    mole.write_bytes(picture(RED))
    assert (await run(folder))[1] == ["port.md"]
    assert [i for i in images() if "image" in i.locator]


@pytest.mark.parametrize(
    ("reached", "how", "seconds", "expected"),
    [
        ("", "rapidocr", 600, False),
        ("2 0", "rapidocr", 600, False),
        ("2 600", "rapidocr", 600, False),
        ("2 600", "rapidocr", 900, True),
        ("2 600", "off", 900, False),
        ("1 0", "rapidocr", 600, True),
        ("1 0", "off", 600, False),
        ("0 0", "off", 600, True),
    ],
)
def test_what_would_be_read_further(
    reached: str, how: str, seconds: float, expected: bool, monkeypatch
) -> None:
    ocr(monkeypatch, how, None)
    assert further(reached, seconds) is expected
