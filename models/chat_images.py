"""Pictures in a prompt: data URLs beside the text of the last user message, as OpenAI-style servers take them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

IMAGE_TOKENS = 1_000
"""What one picture is taken to cost before the server says: about what a picture of 1,024 pixels costs."""


def with_images(messages: Sequence[tuple[str, str]], images: Sequence[bytes]) -> list[Any]:
    """Return messages with pictures in the last one of the user.

    Args:
        messages: (role, text) pairs.
        images: JPEG files.
    """
    if not images:
        return list(messages)
    at = max((n for n, (role, _) in enumerate(messages) if role == "user"), default=len(messages) - 1)
    role, text = messages[at]
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for image in images:
        url = "data:image/jpeg;base64," + base64.b64encode(image).decode("ascii")
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return [*messages[:at], (role, parts), *messages[at + 1 :]]


def digest_of(images: Sequence[bytes]) -> str:
    """Return what tells pictures apart in the key of a kept reply; empty without pictures."""
    if not images:
        return ""
    return ":images:" + hashlib.sha256(b"".join(hashlib.sha256(i).digest() for i in images)).hexdigest()
