"""What all programs ask; each prints what its client made of the answers, as one JSON object."""

from __future__ import annotations

import base64
import struct
import zlib

LIT = "When was the lamp of the lighthouse first lit?"
SAILS = "How often does the ferry sail?"
WHO = "Who fired the kiln of Rook?"
KILN = "# The kiln\n\nThe kiln of Rook was fired in 1911 by Rosa.\n"
FILE = "data:text/markdown;base64," + base64.b64encode(KILN.encode()).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_HEAD = struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0)
PICTURE = (
    "data:image/png;base64,"
    + base64.b64encode(
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", _HEAD)
        + _chunk(b"IDAT", zlib.compress((b"\0" + b"\xff" * 64) * 64))
        + _chunk(b"IEND", b"")
    ).decode()
)
TOOL = {
    "type": "function",
    "function": {
        "name": "tide",
        "description": "Tell the tide.",
        "parameters": {"type": "object", "properties": {}},
    },
}


def turn(role: str, text: str) -> dict[str, object]:
    """Return one message."""
    return {"role": role, "content": text}


def with_part(text: str, part: dict[str, object]) -> dict[str, object]:
    """Return a question with a part."""
    return {"role": "user", "content": [{"type": "text", "text": text}, part]}


IMAGE_PART: dict[str, object] = {"type": "image_url", "image_url": {"url": PICTURE}}
FILE_PART: dict[str, object] = {"type": "file", "file": {"filename": "kiln.md", "file_data": FILE}}
CALL = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
TOOL_TURNS = [
    turn("user", "What is the tide?"),
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "high"},
    turn("assistant", "It is high."),
]
