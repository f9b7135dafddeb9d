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
        "<html><head><title>Kap Arkona</title><link rel='canonical' href='https://de.example/arkona#x'></head><body><article>"
        "<p>The lighthouse of Kap Arkona was built in 1827 after plans ascribed to Schinkel.</p>"
        "<p>It was in use until 1905 and is a museum now.</p></article></body></html>"
    )
    (folder / "sub" / "hiddensee.md").write_text(
        "---\ntitle: Dornbusch light\nsource: https://en.wikipedia.example/wiki/Dornbusch\n---\n"
        "The lighthouse on Hiddensee was built in 1888. ![x](https://evil.example/p.png)\n"
    )
    (folder / "warnemuende.txt").write_text("Warnemünde\n\nThe lighthouse of Warnemünde opened in 1898.\n")
    (folder / "bread.txt").write_text("Bread\n\nBread is baked from flour, water and salt.\n")
    return folder


async def test_pages_are_ranked_by_the_rare_words_of_the_query(pages: Path) -> None:
    found = await Folder(pages).search("When was the lighthouse on Hiddensee built?", 5)
    assert [page.title for page in found][:2] == ["Dornbusch light", "Kap Arkona"]
    assert "Bread" not in {page.title for page in found}


async def test_a_page_brings_its_text_snippet_time_and_address(pages: Path) -> None:
    os.utime(pages / "arkona.html", (1_700_000_000, 1_700_000_000))
    (found,) = await Folder(pages).search("Schinkel Arkona 1827", 1)
    assert found.url == "https://de.example/arkona"
    assert found.text.startswith("The lighthouse of Kap Arkona")
    assert "1827" in found.snippet
    assert found.fetched == "2023-11-14T22:13:20+00:00"


async def test_the_address_comes_from_the_page_or_is_the_file(pages: Path) -> None:
    folder = Folder(pages)
    (markdown,) = await folder.search("Hiddensee", 1)
    (text,) = await folder.search("Warnemünde", 1)
    assert markdown.url == "https://en.wikipedia.example/wiki/Dornbusch"
    assert "evil.example" not in markdown.text and "---" not in markdown.text
    assert text.url == (pages / "warnemuende.txt").as_uri()


@pytest.mark.parametrize("address", ["http://10.0.0.1/", "javascript:alert(1)", "file:///etc/passwd", "nonsense"])
async def test_an_address_that_is_none_of_the_web_is_not_taken_from_a_page(pages: Path, address: str) -> None:
    (pages / "odd.md").write_text(f"---\nurl: {address}\n---\nA zeppelin over the bay.\n")
    (found,) = await Folder(pages).search("zeppelin", 1)
    assert found.url == (pages / "odd.md").as_uri()


async def test_a_changed_added_or_removed_page_counts_at_the_next_search(pages: Path) -> None:
    folder = Folder(pages)
    assert await folder.search("zeppelin", 3) == []
    (pages / "new.txt").write_text("A zeppelin landed.")
    assert len(await folder.search("zeppelin", 3)) == 1
    (pages / "new.txt").write_text("A balloon landed there instead.")
    assert await folder.search("zeppelin", 3) == []
    (pages / "new.txt").unlink()
    assert await folder.search("balloon", 3) == []


async def test_links_hidden_files_and_other_types_are_left_out(pages: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("The zeppelin code is 4711.")
    (pages / "link.txt").symlink_to(outside)
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside" / "more.txt").write_text("zeppelin")
    (pages / "folder").symlink_to(tmp_path / "aside")
    (pages / ".git").mkdir()
    (pages / ".git" / "note.txt").write_text("zeppelin")
    (pages / ".hidden.txt").write_text("zeppelin")
    (pages / "data.bin").write_bytes(b"zeppelin")
    (pages / "empty.txt").write_text("")
    (pages / "broken.html").write_bytes(b"\x00\xff<html>")
    assert await Folder(pages).search("zeppelin", 5) == []


async def test_scripts_without_spaces_are_found(pages: Path) -> None:
    (pages / "zh.txt").write_text("知识图谱\n\n知识图谱是一种表示实体之间关系的方法。")
    (found,) = await Folder(pages).search("什么是知识图谱", 3)
    assert found.title == "知识图谱"


async def test_a_query_without_content_words_or_matches_finds_nothing(pages: Path) -> None:
    assert await Folder(pages).search("?!", 3) == []
    assert await Folder(pages).search("quantum chromodynamics", 3) == []


async def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WebError, match=r"is not there\. Set RAGWEAVE_WEB_FOLDER"):
        await Folder(tmp_path / "none").search("x", 1)


async def test_an_empty_folder_finds_nothing(tmp_path: Path) -> None:
    assert await Folder(tmp_path).search("lighthouse", 3) == []
