"""Texts that are UTF-8 in part, or not what they are declared to be."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.dates import known, noted, of_heading, stated
from ragweave.corpora.decode import as_declared, decode
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.split import split

ROWS = (Path(__file__).parent / "golden" / "dates.txt").read_text(encoding="utf-8").splitlines()
"""Of each document its date, title, file name, language and lines, of which headings begin with `#`."""


@pytest.mark.parametrize("row", ROWS)
def test_a_date_is_what_the_document_states_and_none_that_it_only_speaks_of(row: str) -> None:
    when, title, stem, language, lines = json.loads(row)
    blocks = [
        Block(line.lstrip("# "), "heading" if line[0] == "#" else "text", int(line[0] == "#"))
        for line in lines
    ]
    found = stated(title, blocks, stem, language)
    assert (found.date().isoformat() if found else "") == when


def test_a_section_has_the_date_of_its_heading() -> None:
    blocks = (
        Block("Changes", "heading", 1),
        Block("2.1 (2025-08-21)", "heading", 2),
        Block("Hold it for six seconds.", "text"),
        Block("2.0 (2024-01-30)", "heading", 2),
        Block("Hold it for ten seconds.", "text"),
    )
    items = [i for i in split("s", "c.md", Parsed("Changes", blocks)) if i.corpus == "paragraph"]
    assert [i.date and i.date.date().isoformat() for i in items] == ["2025-08-21", "2024-01-30"]
    assert of_heading(["Concerts", "2022"]) is None


def test_what_a_program_noted_yields_to_a_text_that_speaks_of_a_later_time() -> None:
    made = datetime(2019, 5, 1, tzinfo=UTC)
    assert noted(made, [Block("We met in June 2018.", "text")]) == made
    assert noted(made, [Block("We met in June 2024.", "text")]) is None
    assert noted(made, [], "Annual report 2018") is None and noted(made, [], "Report 2019", "a") == made


@pytest.mark.parametrize(
    ("when", "names", "text", "told"),
    [
        ("2024-03-01", ("Minutes, March 2024",), "On 1 March 2024 the pump failed.", "2024-03"),
        ("2024-03-01", ("2024-03_minutes",), "", "2024-03"),
        ("2025-01-01", ("Fees",), "Valid from 1 January 2025", "2025-01-01"),
        ("2025-03-01", ("2025-03-01 board",), "", "2025-03-01"),
        ("2024-03-11", ("Meeting",), "", "2024-03-11"),
        ("2025-03-01T18:40", ("Offer",), "", "2025-03-01"),
    ],
)
def test_of_a_date_no_more_is_told_than_the_document_says(
    when: str, names: tuple[str, ...], text: str, told: str
) -> None:
    assert known(datetime.fromisoformat(when), names, text) == told


def test_the_home_is_read_from_the_environment_and_made_absolute(monkeypatch):
    monkeypatch.setenv("RAGWEAVE_HOME", "~/somewhere")
    assert CorporaSettings().home == Path.home() / "somewhere"


@pytest.mark.parametrize(
    "name, value", [("PARSE_SECONDS", "0"), ("PARSE_MEMORY_MB", "1"), ("MAX_FILE_MB", "0")]
)
def test_limits_have_bounds(monkeypatch, name, value):
    monkeypatch.setenv(f"RAGWEAVE_{name}", value)
    with pytest.raises(ValidationError):
        CorporaSettings()


def test_an_address_of_a_cluster_says_what_each_actor_takes():
    assert CorporaSettings(ray="auto").ray_shares == (1.0, 0.0)
    settings = CorporaSettings(ray="head:6379?cpus=2&gpus=0.25")
    assert (settings.ray_address, settings.ray_shares) == ("head:6379", (2.0, 0.25))


def test_an_address_of_a_chroma_server_names_its_tenant_and_database():
    assert CorporaSettings(chroma_url="http://c:8000/").chroma == (
        "http://c:8000",
        "default_tenant",
        "default_database",
    )
    settings = CorporaSettings(chroma_url="http://c:8000?tenant=us&database=notes")
    assert settings.chroma == ("http://c:8000", "us", "notes")


@pytest.mark.parametrize(
    "given",
    [
        {"ray": "auto?cpus=0"},
        {"ray": "auto?gpus=many"},
        {"ray": "auto?cpu=1"},
        {"chroma_url": "http://c?tenants=a"},
    ],
)
def test_an_address_that_says_something_else_is_refused(given):
    with pytest.raises(ValidationError):
        CorporaSettings(**given)


A = Path("a.txt")
FERRY = "Die Fähre fährt früh, der Käpt’n heißt Jörg."


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Der Kapitän heißt Jörg Müller. ÜBERSICHT »ÄÖÜ«"),
        ("cp1251", "Причал был перестроен в 1998 году капитаном порта."),
        ("gbk", "码头于1998年重建。联通公司负责。"),
        ("cp932", "桟橋は1998年に再建されました。港の事務所"),
        ("cp874", "ท่าเรือถูกสร้างขึ้นใหม่ในปี 1998 โดยนายท่า"),
    ],
)
def test_a_file_that_was_joined_of_two_encodings_is_read_line_by_line(encoding: str, text: str) -> None:
    joined = f"{text}\n{FERRY}\n".encode() + text.encode(encoding)
    assert decode(joined, A) == f"{text}\n{FERRY}\n{text}"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("ü", b"\xfc", FERRY),
        ("’", b"\x92", FERRY),
        ("ä", b"\xc3", FERRY.replace("ä", "\ufffd")),
        ("’", b"\xe2\x80", FERRY.replace("’", "\ufffd")),
    ],
)
def test_a_broken_character_leaves_the_others_as_they_are(old: str, new: bytes, text: str) -> None:
    assert decode(FERRY.encode().replace(old.encode(), new), A) == text


@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "us-ascii", "gb2312", "koi8-r"])
def test_what_is_utf_8_is_so_whatever_it_is_declared_to_be(charset: str) -> None:
    assert as_declared(FERRY.encode(), charset) is None
    assert decode(FERRY.encode(), A) == FERRY


@pytest.mark.parametrize(("charset", "text"), [("gbk", "联通"), ("cp1252", "CAFÉ»"), ("koi8-r", "Причал")])
def test_a_declaration_counts_where_the_bytes_bear_it_out(charset: str, text: str) -> None:
    assert as_declared(text.encode(charset), charset) == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("iso2022_jp", "桟橋は1998年に再建"), ("iso2022_kr", "부두는 1998년에 다시 지어졌다")],
)
def test_iso_2022_is_told_by_its_escapes(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), A) == text
    assert as_declared(text.encode(encoding), "us-ascii") is None


def test_colours_of_a_terminal_are_no_encoding() -> None:
    assert decode(b"\x1b[31mred\x1b[0m\x1b(B and plain", A) == "\x1b[31mred\x1b[0m\x1b(B and plain"


@given(
    st.text(alphabet=st.characters(exclude_characters="\0\r", exclude_categories=("Cc", "Cs")), min_size=20)
)
def test_valid_utf_8_is_read_as_it_is(text: str) -> None:
    assert decode(f"plain words first: {text} end".encode(), A) == f"plain words first: {text} end"
