"""How near items are to a question, by the vectors in the catalog."""

from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import Library, open_library
from ragweave.models.errors import ModelError

TEXTS = {
    "cat": "The kitten slept on the sofa all afternoon.",
    "rent": "The tenant pays four hundred euros a month.",
    "boat": "The ferry leaves the pier at noon.",
    "bread": "The dough rests for sixteen hours.",
}
QUESTION = "Where did the cat nap?"


@pytest.fixture
async def library(tmp_path: Path, home: Path) -> Library:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    await index([folder])
    return await open_library()


async def by_name(library: Library, *corpora: str) -> dict[str, str]:
    held = [i for s in await library.sources() for c in corpora for i in await library.items_of(s.id, c)]
    return {Path(i.locator["file"]).stem: i.id for i in held}


async def test_nearness_ranks_as_the_cosines_do_and_leaves_out_what_has_no_vector(library: Library) -> None:
    ids = await by_name(library, "paragraph")
    found = library.nearness(QUESTION, {*ids.values(), "unknown"})
    assert found.keys() == {*ids.values()} and max(found, key=lambda i: found[i]) == ids["cat"]
    asked = library.encoder.queries([QUESTION])[0]
    kept = library.held.vectors.of_items(library.id, "paragraph", library.encoder.name, [*ids.values()])
    cosines = {i: float(np.max(rows @ asked)) for i, rows in kept.items()}
    assert sorted(found, key=lambda i: found[i]) == sorted(cosines, key=lambda i: cosines[i])


async def test_without_its_encoder_nothing_is_near(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await by_name(library, "paragraph")

    def down(texts: object) -> None:
        raise ModelError("the encoder is away", "start it")

    monkeypatch.setattr(library.encoder, "queries", down)
    assert library.nearness(QUESTION, [*ids.values()]) == {}


async def test_what_the_words_found_has_its_cosine_in_the_dense_list(library: Library) -> None:
    ids = await by_name(library, "paragraph")
    (lists,) = await library.search("paragraph", ["tenant kitten"], k=1)
    assert {h.id for h in lists.lexical} | {h.id for h in lists.dense} == {h.id for h in lists.dense}
    (words,) = await library.search("paragraph", ["euros"], k=1, only="lexical")
    assert [h.id for h in words.lexical] == [ids["rent"]] and not words.dense
