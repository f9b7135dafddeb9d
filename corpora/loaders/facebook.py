"""Messages of Facebook, Messenger and Instagram: JSON of one chat, or the zip file of an account.

LangChain's loader keeps the letters as garbled as the export has them, and the times of this machine's zone.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path, PurePosixPath

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.loaders.exports import ChatMessage, at_second, chat, entries, json_of, latest, rows_of, text_of


def parse(path: Path) -> Parsed:
    """Read every chat; a long one lies in several files of one folder. Times are UTC."""
    titles: dict[str, str] = {}
    chats: defaultdict[str, list[ChatMessage]] = defaultdict(list)
    for name, data in entries(path, r"(?:^|/)message_\d+\.json$"):
        export, folder = json_of(data, name), str(PurePosixPath(name).parent)
        titles[folder] = _repaired(export.get("title") or export.get("threadName")) or path.stem
        for row in rows_of(export.get("messages")):
            at = at_second(row.get("timestamp_ms") or row.get("timestamp"), 1e-3)
            speaker = _repaired(row.get("sender_name") or row.get("senderName"))
            chats[folder].append(ChatMessage(at, speaker, _repaired(row.get("content") or row.get("text"))))
    blocks: list[Block] = []
    for folder, messages in sorted(chats.items()):
        blocks += chat(titles[folder], messages)
    return Parsed(blocks=tuple(blocks), date=latest(blocks), parted=True)


def _repaired(value: object) -> str:
    """Return a text; the bytes of UTF-8 stand in it as letters of Latin-1."""
    text = text_of(value)
    with suppress(UnicodeError):
        return text.encode("latin-1").decode("utf-8")
    return text
