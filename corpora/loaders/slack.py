"""Slack: the zip file that a workspace exports, read by LangChain's loader."""

from __future__ import annotations

import html
import re
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Parsed
from ragweave.corpora.loaders.exports import (
    ChatMessage,
    at_second,
    chat,
    entries,
    fields_of,
    json_of,
    latest,
    rows_of,
    text_of,
)
from ragweave.models.failures import loading

_PERSON = re.compile(r"<@(\w+)(?:\|[^<>]*)?>")
_LINK = re.compile(r"<(?:#\w+\|([^<>|]+)|([^<>|\s]+)\|([^<>|]+)|([a-z]+:[^<>|\s]+))>")


def parse(path: Path) -> Parsed:
    """Read every channel; people are named as in the list of users, times are UTC."""
    with loading("Reading a Slack export", "loaders"):
        from langchain_community.document_loaders.slack_directory import SlackDirectoryLoader

    warnings: list[str] = []

    class Loader(SlackDirectoryLoader):
        def _read_json(self, zip_file: zipfile.ZipFile, file_path: str) -> list[dict[str, Any]]:
            if file_path.startswith("__MACOSX/"):
                return []
            try:
                return rows_of(super()._read_json(zip_file, file_path))
            except ValueError:
                warnings.append(f"{file_path} holds broken JSON")
                return []

    with Archive(path):  # the loader opens the file itself, and knows no limits
        people = _people(path)
    channels: defaultdict[str, list[ChatMessage]] = defaultdict(list)
    for document in Loader(path).lazy_load():
        about = document.metadata
        speaker = people.get(str(about["user"]), str(about["user"]))
        message = ChatMessage(
            at_second(about["timestamp"]), speaker, _plain(text_of(document.page_content), people)
        )
        channels[about["channel"]].append(message)
    blocks = [block for name in sorted(channels) for block in chat(f"#{name}", channels[name])]
    return Parsed(blocks=tuple(blocks), date=latest(blocks), warnings=tuple(warnings), parted=True)


def _people(path: Path) -> dict[str, str]:
    found = {}
    for name, data in entries(path, r"(?:^|/)users\.json$"):
        for row in rows_of(json_of(data, name)):
            profile = fields_of(row.get("profile"))
            names = (
                profile.get("display_name"),
                row.get("real_name"),
                profile.get("real_name"),
                row.get("name"),
            )
            found[str(row.get("id"))] = next(filter(None, map(text_of, names)), "")
    return {id: name for id, name in found.items() if name}


def _plain(text: str, people: dict[str, str]) -> str:
    """Return a message without Slack's marks for people, channels and links."""
    text = _PERSON.sub(lambda m: f"@{people.get(m[1], m[1])}", text)
    text = _LINK.sub(lambda m: f"#{m[1]}" if m[1] else f"{m[3]} ({m[2]})" if m[3] else m[4], text)
    return html.unescape(text)
