from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora import loaders
from ragweave.corpora.ingest.events import Report
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.loaders import LOADERS, asked_for, load, marked
from ragweave.corpora.loaders.exports import WINDOW_WORDS, ChatMessage, chat
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import MissingExtra
from ragweave.tests.support.exports import EXPORTS, PLAN
from ragweave.tests.support.zips import zip_bytes

AT = "[2024-03-02 09:05]"
GOLDEN: dict[str, list[tuple[str, str]]] = {
    "slack": [
        ("#boats", "U9: Sold."),
        (
            "#general, 2024-03 / 2024-03-02 09:05 to 09:06",
            f"{AT} Ada Lovelace: {PLAN} See the map (https://x.example/y).\n"
            "[2024-03-02 09:06] Bob: Where & when, @Ada Lovelace? #general",
        ),
    ],
    "whatsapp": [
        (
            "chat, 2023-12 / 2023-12-13 21:05 to 2023-12-14 08:00",
            "[2023-12-13 21:05] Messages are end-to-end encrypted.\n"
            f"[2023-12-13 21:05] Ada: {PLAN}\nIt is the blue one.\n[2023-12-14 08:00] Bob-Joe (work): thanks",
        )
    ],
    "telegram": [
        (
            "Boats, 2024-03 / 2024-03-02 09:05 to 09:06",
            f"{AT} Ada: {PLAN}\n[2024-03-02 09:06] Deleted account: thanks",
        )
    ],
    "evernote": [
        ("Boats & keys", f"Tags: sea\n\n{PLAN}"),
        ("Boats & keys / Jobs", "[x] paint\n\nboat | price\nElsa | 900"),
        ("Empty", "Empty"),
    ],
    "notion": [("Harbour / Boats", PLAN), ("Harbour / Boats / Jobs", "- paint")],
}
every = pytest.mark.parametrize("kind", LOADERS)


def put(folder: Path, kind: str, plan: str = PLAN) -> Path:
    name, make = EXPORTS[kind]
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(make(plan))
    return path


def paragraphs(path: Path, kind: str) -> list[Any]:
    return [i for i in prepare(path, "s", 300, loader=kind).items if i.corpus == "paragraph"]


@every
def test_an_export_becomes_items_with_place_text_and_date(kind: str, tmp_path: Path) -> None:
    found = paragraphs(put(tmp_path, kind), kind)
    assert [(" / ".join(i.heading), i.text) for i in found] == GOLDEN[kind]
    assert all(i.locator["file"] == str(tmp_path / EXPORTS[kind][0]) for i in found)
    assert all(kind == "evernote" or f"{i.date:%Y-%m-%d}" in i.text for i in found if i.date)
    assert any(i.date for i in found) == (kind != "notion")


def texts(report: Report) -> str:
    library = stores().catalog
    return "\n".join(
        i.text
        for source in library.sources(report.id)
        for i in library.items_of(report.id, source.id, "paragraph")
    )


@every
async def test_a_library_follows_an_export_that_changes_and_goes(
    kind: str, tmp_path: Path, read_here: None
) -> None:
    path = put(tmp_path / "in", kind)
    plain = await index([path.parent])
    ((_, why),) = plain.failed or plain.partial
    assert f"({LOADERS[kind]})" in why and f"--loader {kind}" in why
    first = await index([path.parent], loader=kind)
    assert (first.indexed, first.failed) == (1, []) and PLAN in texts(first)
    assert (await index([path.parent], loader=kind)).unchanged == 1
    put(tmp_path / "in", kind, "The key lies under the boat.")
    second = await index([path.parent])  # the loader is remembered
    assert second.indexed == 1 and "under the boat" in texts(second) and "under the mat" not in texts(second)
    path.unlink()
    assert (await index([path.parent], forgets=True)).removed == 1
    assert (await (await open_library("default")).sources()) == []


@every
def test_a_name_that_asks_for_a_loader_is_followed_where_the_content_agrees(
    kind: str, tmp_path: Path
) -> None:
    path = put(tmp_path, kind)
    asking = path.rename(path.with_name(marked(path.name, kind)))
    assert asked_for(asking) == kind and prepare(asking, "s", 300).kind == kind
    (tmp_path / f"notes.{kind}.txt").write_text("About the lighthouse.")
    assert prepare(tmp_path / f"notes.{kind}.txt", "s", 300).kind == "text"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12/13/23, 9:05 PM - Ada: x\n", "2023-12-13 21:05"),
        ("1/2/24, 12:05 AM - Ada: x\n1/3/24, 12:05\u202fPM - Ada: y\n", "2024-01-02 00:05"),
        ("01/02/2024, 09:05 - Ada: x\n02/02/2024, 09:05 - Ada: y\n", "2024-02-01 09:05"),
        (
            "[01/02/24, 09:05:00] Ada: x\n[01/03/24, 09:05:00] Ada: y\n[01/04/24, 09:05:00] Ada: z\n",
            "2024-02-01 09:05",
        ),
        ("2024-02-01, 09:05 - Ada: x\n", "2024-02-01 09:05"),
        ("1.2.24, 09:05 - Ada: x\n", "2024-02-01 09:05"),
        ("99.99.24, 09:05 - Ada: x\n", ""),
    ],
)
def test_the_order_of_day_and_month_is_told_from_the_chat(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(text)
    found = paragraphs(tmp_path / "chat.txt", "whatsapp")[0].text
    assert found.startswith(f"[{expected}] Ada: x" if expected else "Ada: x")


def test_a_long_chat_is_cut_into_windows_that_keep_speaker_time_and_every_message() -> None:
    start = datetime(2024, 3, 30, 8, tzinfo=UTC)
    said = [
        ChatMessage(
            start + timedelta(minutes=7 * n, days=n // 300), f"P{n % 3}", f"word{n} " + "and so on " * (n % 9)
        )
        for n in range(1000)
    ]
    blocks = chat("long", reversed(said))
    assert [b.text for b in blocks if b.level == 1] == ["long, 2024-03", "long, 2024-04"]
    windows = [b.text for b in blocks if b.kind == "list"]
    assert all(len(w.split()) <= WINDOW_WORDS + 4 * w.count("[2024") for w in windows) and len(windows) > 50
    lines = "\n".join(windows).split("\n")
    assert [line.split()[3] for line in lines] == [f"word{n}" for n in range(1000)]
    assert all(line.startswith("[2024-0") and f"] P{n % 3}: " in line for n, line in enumerate(lines))


@pytest.mark.parametrize("kind", ["slack", "notion"])
def test_a_loader_whose_package_is_missing_names_the_extra(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("slack_directory", "notion"):
        monkeypatch.setitem(sys.modules, f"langchain_community.document_loaders.{module}", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[loaders\]"):
        load(put(tmp_path, kind), kind)


def test_the_command_lists_the_loaders_and_reads_by_one(main: Any, tmp_path: Path) -> None:
    code, out, _ = main("index", "--loader", "list")
    assert code == 0 and all(f"{kind} " in out and name in out for kind, name in LOADERS.items())
    code, out, _ = main("index", str(put(tmp_path, "slack")), "--loader", "slack", "--library", "talk")
    assert code == 0 and "1 read" in out
    code, out, _ = main("search", "where does the key lie", "--library", "talk")
    assert "#general, 2024-03" in out and PLAN.split(" mat")[0] in out
    code, _, err = main("index", str(tmp_path), "--loader", "teams")
    assert code == 2 and "no loader 'teams'; the loaders: slack" in err


def test_the_page_offers_the_same_loaders_in_every_language() -> None:
    static = Path(loaders.__file__).parents[2] / "serve" / "static"
    offered = re.search(r"LOADERS = (\[.*\]);", (static / "js" / "upload.js").read_text())
    assert offered and json.loads(offered[1]) == list(LOADERS)
    words = {lang: json.loads((static / "lang" / f"{lang}.json").read_text()) for lang in ("en", "de", "zh")}
    assert {k: words["en"].get(f"loader.{k}") for k in LOADERS} == LOADERS
    assert all(f"loader.{kind}" in words[lang] for lang in words for kind in LOADERS)


def test_files_beside_the_chat_of_an_export_are_named_and_not_read(tmp_path: Path) -> None:
    files = {
        "WhatsApp Chat - Ann.txt": "03.09.25, 08:12 - Ann: Hello\n",
        "ideas.md": "# Ideas",
        "IMG-1.jpg": "x",
    }
    (tmp_path / "chat.zip").write_bytes(zip_bytes(files))
    found = load(tmp_path / "chat.zip", "whatsapp")
    assert [b.text for b in found.blocks if b.kind != "heading"] == ["[2025-09-03 08:12] Ann: Hello"]
    assert found.warnings == ("2 of its files are no chats, and were not read: ideas.md, IMG-1.jpg",)
