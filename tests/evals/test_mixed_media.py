"""Routing over a mixed library whose pictures and transcripts are indexed themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from ragweave.app import cli
from ragweave.corpora.ingest.run import Report, index
from ragweave.corpora.types import Item
from ragweave.evals import images, mixed_data, mixed_media
from ragweave.evals.mixed_media import Media, media
from ragweave.models.errors import InputError, MissingExtra

SEGMENTS = [
    ("talk-1", 0, "Welcome, today we speak about how bees find their way home."),
    ("talk-1", None, "They remember the angle of the sun over the meadow. " * 12),
    ("talk-1", 90, "And now the second theme: we repair a diesel tractor in the barn. " * 6),
    ("talk-2", None, "Our guest bakes rye bread in a stone oven every single morning."),
]
WRITTEN = [
    {"id": "i", "kind": "image", "question": "Which picture shows the ringed planet?", "gold": ["saturn"]},
    {"id": "c", "kind": "clip", "question": "At which moment do they repair the tractor?", "gold": ["talk-1:2"]},
    {"id": "r", "kind": "clip", "question": "Who bakes rye bread in the recording?", "gold": ["talk-2:0"]},
    {"id": "v", "kind": "video", "question": "Which whole lecture is about commits?", "gold": ["vc_intro"]},
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a few rows of every data set, and two pictures."""
    folder = tmp_path / "data"
    pictures = [
        {"id": n, "file": f"images/{n}.png", "title": t, "alt": f"withheld {n}", "caption": c, "module_title": "Sky"}
        for n, t, c in (("saturn", "Saturn.", "The ringed planet."), ("plot", "Spectrum.", "Light by wavelength."))
    ]
    said = [("Commits keep changes.", 0, 9), ("A commit has a message.", 9, 20), ("", 20, 22), ("Push it.", 22, 30)]
    slides = [
        {"lecture": "vc_intro", "n": n, "narration": text, "start_est": start, "end_est": end}
        for n, (text, start, end) in enumerate(said)
    ]
    passage = {"title": "Lease", "text": "The lease of the flat was signed on 3 May 2019."}
    sets: dict[str, list[dict[str, Any]]] = {
        "squad_xquad_en/passages": [{"id": "1", **passage}],
        "squad_xquad_en/queries": [{"id": "1", "question": "When was the lease signed?", "gold": ["1"]}],
        "multihop_hotpotqa/corpus": [{"id": "2", "title": "Pump", "text": "The pump was built in Tartu."}],
        "multihop_hotpotqa/queries": [{"id": "2", "question": "Where was the pump built?", "gold": ["2"]}],
        "images_astronomy/captions": pictures,
        "transcripts_practicalai/segments": [{"episode": e, "speaker": "A", "t": t, "text": x} for e, t, x in SEGMENTS],
        "slide_lectures_swc/slides": slides,
    }
    for name, rows in sets.items():
        path = folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "images_astronomy/images").mkdir()
    for shade, row in zip((60, 190), pictures, strict=True):
        Image.new("RGB", (120, 90), (shade, shade, shade)).save(folder / "images_astronomy" / str(row["file"]))
    (folder / "docs_astronomy").mkdir()
    link = "![saturn.png](../images_astronomy/images/saturn.png)\n*The ringed planet.*"
    (folder / "docs_astronomy/planets.md").write_text(f"# Planets\n\nGiants have moons of ice.\n\n{link}\n")
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    monkeypatch.setattr(mixed_data, "written", lambda: WRITTEN)
    return folder


def run(data: Path, out: Path) -> Any:
    line = ["eval", "mixed", "--data", str(data), "--media", "--work", str(out / "w"), "--json", str(out / "r.json")]
    return CliRunner().invoke(cli.app, line)


def test_pictures_and_transcripts_are_found_by_their_files_and_times(data: Path, tmp_path: Path) -> None:
    done = run(data, tmp_path)
    assert done.exit_code == 0, done.output
    flat = json.loads((tmp_path / "r.json").read_text())
    assert flat["questions"] == 6 and flat["recall@5_oracle"] == 1.0
    assert flat["recall@5_image_alone"] == pytest.approx(1 / 6, abs=1e-3)
    assert "routed, first choice only" in done.stdout


async def test_what_was_indexed_once_is_not_indexed_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[Report] = []

    async def told(*args: Any) -> None:
        reports.append(await index(*args))

    monkeypatch.setattr(images, "index", told)
    library, names = await mixed_media.prepare(media(data, tmp_path / "w"))
    held = {name for each in names.values() for name in each}
    assert {"saturn", "plot", "talk-1:2", "talk-2 0-0", "talk-2", "vc_intro", "p 1", "d 2"} <= held
    texts = [i.text for i in (await library.items(list(names))).values()]
    assert any("The ringed planet." in t for t in texts) and not any("withheld" in t for t in texts)

    again, same = await mixed_media.prepare(media(data, tmp_path / "w"))
    assert again.name == library.name and same == names
    first, second = reports
    assert first.indexed > 0 and (second.indexed, second.unchanged) == (0, first.files)


async def test_gold_that_was_not_indexed_stops_the_measurement(data: Path, tmp_path: Path) -> None:
    made = media(data, tmp_path / "w")
    (made.folder / "recordings/talk-1.jsonl").unlink()
    with pytest.raises(InputError, match="'talk-1:2' among them"):
        await mixed_media.prepare(made)


@pytest.mark.parametrize(
    ("start", "end", "turns"),
    [(0, 30, ["t:0", "t:1"]), (30, 60, ["t:1"]), (88, 118, ["t:2"]), (118, 120, []), (20, 24, ["t:1"])],
)
def test_a_clip_counts_for_turns_with_which_it_shares_half_of_the_shorter_time(
    start: float, end: float, turns: list[str]
) -> None:
    made = Media(Path("f"), "n", [], {"t": [("0", 0, 10), ("1", 10, 90), ("2", 90, 118)]})
    locator: Any = {"kind": "time", "file": "/f/recordings/t.jsonl", "start": start, "end": end}
    assert made.names(Item("i", "clip", "s", "t", "said", locator)) == turns


def test_without_the_extra_a_sentence_says_what_to_install(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mixed_media, "installed", lambda: False)
    done = run(data, tmp_path)
    assert isinstance(done.exception, MissingExtra) and "ragweave[images]" in str(done.exception)


def test_media_are_those_of_the_public_data(tmp_path: Path) -> None:
    line = ["eval", "mixed", "--items", str(tmp_path), "--questions", str(tmp_path), "--media"]
    done = CliRunner().invoke(cli.app, line)
    assert isinstance(done.exception, InputError) and "--media needs --data" in str(done.exception)
