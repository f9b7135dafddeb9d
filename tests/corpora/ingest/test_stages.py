import json

import pytest

from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store import prepared as stages
from ragweave.corpora.store.lexical import indexed
from ragweave.corpora.store.prepared import Prepared, chunked, params_hash, source_id
from ragweave.models.errors import SourceError

TEXT = """# The harbour

## Lighthouse

The lighthouse of Alexandria stood on Pharos. 知识图谱
连接实体。

- it was tall
- it was bright

## Library

""" + " ".join(f"Scroll number {n} was copied by hand." for n in range(400))


@pytest.fixture
def made(tmp_path):
    (tmp_path / "harbour.md").write_text(TEXT)
    return prepare(tmp_path / "harbour.md", "src", 300)


def test_items_of_both_granularities_come_with_their_chunks_and_terms(made):
    assert made.title == "The harbour"
    assert {i.corpus for i in made.items} == {"paragraph", "document"}
    for item, ranges, (title, heading, text) in zip(made.items, made.chunks, made.terms, strict=True):
        assert item.source == "src"
        assert (title, heading, text) == (indexed(item.title), indexed(" ".join(item.heading)), indexed(item.text))
        assert all(0 <= start < end <= len(item.text) for start, end in ranges)
    cut = chunked(made.items, made.chunks)
    assert len(cut.texts) == len(cut.ids) == len(set(cut.ids))


def test_a_chunk_is_embedded_under_its_title_and_heading_each_once(made):
    lighthouse = next(i for i in made.items if "Pharos" in i.text and i.corpus == "paragraph")
    cut = chunked(made.items, made.chunks)
    [text] = [t for t, c in zip(cut.texts, cut.ids, strict=True) if c == f"{lighthouse.id}~0"]
    assert text.startswith("The harbour - Lighthouse\nThe lighthouse")


def test_what_crosses_the_process_comes_back_as_it_was(made):
    assert Prepared.from_json(json.loads(made.to_json())) == made


def test_the_same_bytes_and_parameters_give_the_same_ids(made, tmp_path):
    (tmp_path / "copy.md").write_text(TEXT)
    again = prepare(tmp_path / "copy.md", "src", 300)
    assert [i.id for i in again.items] == [i.id for i in made.items]


def test_a_source_is_its_bytes_and_its_parameters(monkeypatch):
    ids = {source_id(sha, params_hash()) for sha in "ab"}
    monkeypatch.setattr(stages, "VERSION", stages.VERSION + 1)
    ids |= {source_id(sha, params_hash()) for sha in "ab"}
    assert len(ids) == 4
    assert all(len(i) == 24 and i.isalnum() for i in ids)


def test_half_a_surrogate_pair_becomes_a_question_mark_in_place(tmp_path):
    (tmp_path / "half.html").write_text("<html><body><p>before &#xD800; after</p></body></html>")
    made = prepare(tmp_path / "half.html", "src", 300)
    for item in made.items:
        item.text.encode()


@pytest.mark.parametrize("content", [b"", b"   \n\n \n", b"\x00\x01\x02\x03" * 50])
def test_a_file_without_text_is_a_source_error(tmp_path, content):
    (tmp_path / "none.txt").write_bytes(content)
    with pytest.raises(SourceError):
        prepare(tmp_path / "none.txt", "src", 300)
