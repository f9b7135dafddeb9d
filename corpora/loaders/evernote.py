"""Evernote: a notebook as .enex, a file of XML whose notes are HTML.

LangChain's loader needs a package under the GPL, keeps neither tables nor lists, and fails at a large
attachment.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lxml import etree

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.decode import read_bytes
from ragweave.corpora.formats import html
from ragweave.corpora.loaders.exports import below, latest
from ragweave.models.errors import SourceError

_ATTACHED = re.compile(rb"<data\b[^<>]*>[^<]*</data>")
_SUBSET = re.compile(rb"<!DOCTYPE[^<>\[]*\[|<!ENTITY")
_PROLOG = re.compile(r"\A\s*(?:<\?[^>]*>|<!DOCTYPE[^>]*>|\s)*", re.S)
_MARKS = (
    (re.compile(r"<en-todo[^<>]*checked=[\"']true[\"'][^<>]*/?>(?:</en-todo>)?"), "[x] "),
    (re.compile(r"<en-todo[^<>]*>(?:</en-todo>)?"), "[ ] "),
    (re.compile(r"<en-crypt[^<>]*>[^<]*</en-crypt>|</?en-(?:media|note)[^<>]*>"), ""),
)


def parse(path: Path) -> Parsed:
    """Read the notes of a notebook, each under a heading with its title; what is attached is left out."""
    data = _ATTACHED.sub(lambda found: b"\n" * found[0].count(b"\n"), read_bytes(path))
    if _SUBSET.search(data.replace(b"\0", b"")):
        raise SourceError(
            f"{path.name} declares entities of XML, which are refused", "leave it out, it is not safe"
        )
    safe: dict[str, Any] = {
        "resolve_entities": False,
        "no_network": True,
        "load_dtd": False,
        "huge_tree": False,
    }
    try:
        root = etree.fromstring(data, etree.XMLParser(**safe))
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise SourceError(f"{path.name} holds XML that is damaged ({exc})", "export it again") from None
    if root.tag != "en-export":
        raise SourceError(f"{path.name} is no Evernote notebook", "export it again, or leave --loader out")
    blocks: list[Block] = []
    hidden: list[str] = []
    for note in root.iterchildren("note"):
        title = " ".join((note.findtext("title") or "").split()) or "Note without a title"
        date = _time(note.findtext("updated")) or _time(note.findtext("created"))
        blocks.append(Block(title, "heading", 1, line=note.sourceline or 0, date=date))
        tags = [(tag.text or "").strip() for tag in note.iterchildren("tag")]
        if any(tags):
            blocks.append(Block(f"Tags: {', '.join(filter(None, tags))}", "list"))
        found = _content(note.findtext("content") or "", path)
        blocks += below(found.blocks or [Block(title, "text")])
        hidden += found.hidden
    return Parsed(blocks=tuple(blocks), date=latest(blocks), hidden=tuple(hidden), parted=True)


def _content(text: str, path: Path) -> Parsed:
    text = _PROLOG.sub("", text)
    for form, mark in _MARKS:
        text = form.sub(mark, text)
    return (
        html.page(f"<html><body>{text}</body></html>".encode(), path, "utf-8") if text.strip() else Parsed()
    )


def _time(value: str | None) -> datetime | None:
    try:
        return datetime.strptime((value or "").strip(), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
