"""Which documents a text names by their titles."""

from pathlib import Path

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import Library, open_library

TITLES = ("Orla Venn", "Orla Venn Museum", "Big Gap (film)", "Ely", "青山茶园")


@pytest.fixture
async def library(tmp_path: Path, home: Path) -> Library:
    folder = tmp_path / "texts"
    folder.mkdir()
    for n, title in enumerate(TITLES):
        (folder / f"{n}.md").write_text(f"# {title}\n\nA text of its own, number {n}.\n", encoding="utf-8")
    await index([folder])
    return await open_library()


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("She met ORLA VENN in town.", ["Orla Venn"]),
        ("The Orla Venn Museum shows “Big Gap”.", ["Orla Venn Museum", "Big Gap (film)"]),
        ("Orla was in Ely, with Mr Venn.", []),
        ("", []),
    ],
)
async def test_the_longest_title_that_stands_word_for_word_counts(
    library: Library, text: str, titles: list[str]
) -> None:
    assert library.titles_in(text) == titles


async def test_titles_that_come_later_are_known(library: Library, tmp_path: Path) -> None:
    assert library.titles_in("the Kelder lock") == []
    (tmp_path / "texts" / "new.md").write_text("# Kelder Lock\n\nIt has two gates.\n", encoding="utf-8")
    await index([tmp_path / "texts"])
    assert (await open_library()).titles_in("the Kelder lock") == ["Kelder Lock"]
