from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragweave.corpora.web.folder import Folder
from ragweave.models.errors import WebError


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "sub").mkdir(parents=True)
    (folder / "arkona.html").write_text(
        "<html><head><title>Kap Arkona</title><link rel='canonical'"
        " href='https://de.example/arkona#x'></head><body><article><p>The lighthouse of Kap Arkona was built"
        " in 1827.</p><p>It is a museum.</p></article></body>"
    )
    (folder / "sub" / "hiddensee.md").write_text(
        "---\ntitle: Dornbusch light\nsource: https://en.wikipedia.example/wiki/Dornbusch\n---\n"
        "The lighthouse on Hiddensee was built in 1888. ![x](https://evil.example/p.png)\n"
    )
    (folder / "warnemuende.txt").write_text("Warnemünde\n\nThe lighthouse of Warnemünde opened in 1898.\n")
    (folder / "bread.txt").write_text("Bread\n\nBread is baked from flour, water and salt.\n")
    (folder / "zh.txt").write_text("知识图谱\n\n知识图谱是一种表示实体之间关系的方法。")
    return folder


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("When was the lighthouse on Hiddensee built?", ["Dornbusch light", "Kap Arkona", "Warnemünde"]),
        ("什么是知识图谱", ["知识图谱"]),
        ("?!", []),
        ("quantum chromodynamics", []),
    ],
)
async def test_pages_are_ranked_by_the_rare_words_of_the_query(
    query: str, titles: list[str], pages: Path
) -> None:
    assert [page.title for page in await Folder(pages).search(query, 5)] == titles


async def test_a_page_brings_its_text_snippet_time_and_the_address_that_it_gives(pages: Path) -> None:
    os.utime(pages / "arkona.html", (1_700_000_000, 1_700_000_000))
    (found,) = await Folder(pages).search("Arkona 1827", 1)
    assert (found.url, found.fetched) == ("https://de.example/arkona", "2023-11-14T22:13:20+00:00")
    assert found.text.startswith("The lighthouse of Kap Arkona") and "1827" in found.snippet
    (markdown,) = await Folder(pages).search("Hiddensee", 1)
    assert markdown.url == "https://en.wikipedia.example/wiki/Dornbusch"
    assert "evil.example" not in markdown.text and "---" not in markdown.text


@pytest.mark.parametrize(
    "address", ["http://10.0.0.1/", "javascript:alert(1)", "file:///etc/passwd", "nonsense", ""]
)
async def test_an_address_that_is_none_of_the_web_is_not_taken_from_a_page(pages: Path, address: str) -> None:
    (pages / "odd.md").write_text(f"---\nurl: {address}\n---\nA zeppelin over the bay.\n")
    (found,) = await Folder(pages).search("zeppelin", 1)
    assert found.url == (pages / "odd.md").as_uri()


async def test_a_changed_added_or_removed_page_counts_at_the_next_search(pages: Path) -> None:
    folder = Folder(pages)
    for text, found in ((None, 0), ("A zeppelin landed.", 1), ("A balloon landed there.", 0), (None, 0)):
        (pages / "new.txt").write_text(text) if text else (pages / "new.txt").unlink(missing_ok=True)
        assert len(await folder.search("zeppelin", 3)) == found


async def test_links_hidden_files_and_other_types_are_left_out(pages: Path, tmp_path: Path) -> None:
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside" / "more.txt").write_text("zeppelin")
    (pages / "link.txt").symlink_to(tmp_path / "aside" / "more.txt")
    (pages / "folder").symlink_to(tmp_path / "aside")
    (pages / ".git").mkdir()
    for name in (".git/note.txt", ".hidden.txt", "data.bin"):
        (pages / name).write_text("zeppelin")
    (pages / "empty.txt").write_text("")
    (pages / "broken.html").write_bytes(b"\x00\xff<html>")
    assert await Folder(pages).search("zeppelin", 5) == []
    with pytest.raises(WebError, match=r"is not there\. Set RAGWEAVE_WEB_FOLDER"):
        await Folder(tmp_path / "none").search("x", 1)
