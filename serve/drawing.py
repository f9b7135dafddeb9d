"""Draw pages of files in a separate process, within limits of memory and time."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.objects import here
from ragweave.models.errors import SourceError
from ragweave.models.subprocess_env import environment
from ragweave.serve.problems import NotFound

SECONDS = 20.0
"""Longest time that opening a page may take."""
_DRAWING = asyncio.Semaphore(2)


async def drawn(path: Path, **arguments: Any) -> tuple[dict[str, Any], bytes]:
    """Return the facts and the picture that a function of `ragweave.serve.draw` returns; `do` names it.

    Raises:
        SourceError: the file cannot be opened, or not in time.
    """
    sent = json.dumps({"file": str(path), **arguments}).encode()
    async with _DRAWING:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "ragweave.serve.draw", str(corpora_settings().parse_memory_mb),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env=environment(), start_new_session=True,
        )  # fmt: skip
        try:
            async with asyncio.timeout(SECONDS):
                out, _ = await process.communicate(sent)
        except TimeoutError:
            raise SourceError(
                f"Opening this page takes longer than {SECONDS:g} seconds", "open the file itself"
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    line, _, picture = out.partition(b"\n")
    facts: dict[str, Any] = json.loads(line) if line else {"wrong": "the file is damaged"}
    if "wrong" in facts:
        raise SourceError(f"This page cannot be drawn: {facts['wrong']}", "open the file itself")
    return facts, picture


def first_file(paths: tuple[str, ...]) -> Path:
    """Return the first path of a source at which there is a file."""
    for path in map(Path, paths):
        if path.is_file() or here(path):
            return path
    raise NotFound("There is no such file", "it may have been moved or deleted since it was indexed").named(
        "file_not_found"
    )
