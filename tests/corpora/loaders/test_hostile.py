"""Exports that were made to do harm: each is refused or read within limits, and says so."""

from __future__ import annotations

import time
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.loaders import LOADERS, load
from ragweave.corpora.settings import corpora_settings
from ragweave.models.errors import SourceError
from ragweave.tests.support.exports import slack
from ragweave.tests.support.zips import zip_bytes

ENTRY = {
    "slack": "general/2024-03-02.json",
    "whatsapp": "_chat.txt",
    "telegram": "result.json",
    "notion": "Page 0123456789abcdef0123456789abcdef.md",
}
LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise("abcdefghij"))
NOTE = (
    "<en-export><note><title>%s</title><content>&lt;en-note&gt;x&lt;/en-note&gt;</content></note></en-export>"
)


def refused(path: Path, kind: str, data: bytes) -> str:
    path.write_bytes(data)
    began = time.monotonic()
    with pytest.raises(SourceError) as caught:
        load(path, kind)
    assert time.monotonic() - began < 10 and caught.value.remedy
    return str(caught.value)


@pytest.mark.parametrize("kind", ENTRY)
def test_a_zip_that_is_too_large_or_leads_outside_is_refused(kind: str, tmp_path: Path) -> None:
    path, name = tmp_path / "a.zip", ENTRY[kind]
    assert "would unpack" in refused(path, kind, zip_bytes({name: b" " * (40 << 20)}))
    assert "leads outside" in refused(path, kind, zip_bytes({name: b"", "../../x.json": b"[]"}))
    assert "entries" in refused(path, kind, zip_bytes({f"x/{n}": b"" for n in range(10_001)}))
    assert "damaged" in refused(path, kind, zip_bytes({name: b"[]" * 100})[:-40])
    assert not (tmp_path.parent / "x.json").exists()


def test_a_zip_inside_a_zip_has_the_same_limits(tmp_path: Path) -> None:
    bomb = zip_bytes({ENTRY["notion"]: b" " * (40 << 20)})
    assert "would unpack" in refused(tmp_path / "a.zip", "notion", zip_bytes({"Export-1.zip": bomb}))


SHAPES = ["3", "null", '{"messages": 3}', '{"chats": {"list": 3}}', '{"messages": [{"type": 1}]}']
DEEP = ["{", "[" * 200_000, '{"messages": ' + "[" * 200_000, "\ud800"]


@pytest.mark.parametrize("kind", LOADERS)
def test_what_is_broken_or_no_export_of_the_kind_is_refused(kind: str, tmp_path: Path) -> None:
    for text in (*SHAPES, *DEEP, "About the lighthouse.", "PK\x03\x04 and no more"):
        if kind != "notion" or text.startswith("PK"):  # any text is a page
            assert refused(tmp_path / "a", kind, text.encode("utf-8", "surrogatepass"))


def test_a_broken_day_costs_that_day(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(slack())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("team/general/2024-03-03.json", "{")
    found = load(path, "slack")
    assert found.warnings == ("team/general/2024-03-03.json holds broken JSON",)
    assert any("under the mat" in b.text for b in found.blocks)


@pytest.mark.parametrize(
    "declared",
    [
        f'<!DOCTYPE en-export [<!ENTITY a "ha">{LAUGHS}]>',
        '<!DOCTYPE en-export [<!ENTITY j SYSTEM "file:///etc/passwd">]>',
        (
            '<!DOCTYPE en-export SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY % j SYSTEM'
            ' "http://127.0.0.1:9/">%j;]>'
        ),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_of_xml_are_refused(declared: str, encoding: str, tmp_path: Path) -> None:
    said = refused(tmp_path / "a.enex", "evernote", (declared + NOTE % "&j;").encode(encoding))
    assert "entities" in said


def test_an_outer_document_type_is_never_fetched(tmp_path: Path) -> None:
    path = tmp_path / "a.enex"
    path.write_text('<!DOCTYPE en-export SYSTEM "http://127.0.0.1:9/x.dtd">' + NOTE % "Boats")
    assert load(path, "evernote").blocks[0].text == "Boats"
    for data in (b"<en-export><note></en-export>", b"<a>" * 5_000, b"<data <!DOCTYPE " * 500_000):
        assert "damaged" in refused(path, "evernote", data)


def test_hidden_text_of_a_message_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("[13.12.23, 21:05:12] Ada: hi\U000e0049\U000e0067 there\n")
    assert load(path, "whatsapp").blocks[-1].text == "[2023-12-13 21:05] Ada: hi there"


def test_what_an_export_takes_of_memory_and_time_is_limited_by_the_reading_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_PARSE_MEMORY_MB", "512")
    monkeypatch.setenv("RAGWEAVE_PARSE_WORKERS", "1")
    (tmp_path / "a.json").write_text('{"messages": [' + "{}," * 15_000_000 + "{}]}")
    (tmp_path / "b.zip").write_bytes(slack())
    readers = Readers(corpora_settings())
    try:
        with pytest.raises(SourceError, match="memory"):
            readers.read(str(tmp_path / "a.json"), "s", 300, loader="telegram")
        assert readers.read(str(tmp_path / "b.zip"), "s", 300, loader="slack").kind == "slack"
    finally:
        readers.close()
