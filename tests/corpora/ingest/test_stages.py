import json

from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store.prepared import Prepared, chunked
from ragweave.corpora.store.words import indexed

TEXT = """# The harbour

## Lighthouse

The lighthouse of Alexandria stood on Pharos. 知识图谱连接实体。 Half a pair: \ud800.

## Library

""" + " ".join(f"Scroll number {n} was copied by hand." for n in range(400))


def test_a_file_becomes_items_of_both_granularities_with_chunks_and_terms_that_depend_on_its_bytes(tmp_path):
    for name in ("harbour.md", "copy.md"):
        (tmp_path / name).write_text(TEXT, errors="surrogatepass")
    made, again = (prepare(tmp_path / name, "src", 300) for name in ("harbour.md", "copy.md"))
    assert made.title == "The harbour" and {i.corpus for i in made.items} == {"paragraph", "document"}
    for item, ranges, terms in zip(made.items, made.chunks, made.terms, strict=True):
        assert item.source == "src" and item.text.encode()
        assert terms == (indexed(item.title), indexed(" ".join(item.heading)), indexed(item.text))
        assert all(0 <= start < end <= len(item.text) for start, end in ranges)
    cut = chunked(made.items, made.chunks)
    assert len(cut.texts) == len(cut.ids) == len(set(cut.ids))
    assert cut.texts[0].startswith("The harbour - Lighthouse\nThe lighthouse")
    assert [i.id for i in again.items] == [i.id for i in made.items]
    assert Prepared.from_json(json.loads(made.to_json())) == made
