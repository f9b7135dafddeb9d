"""Set up the server process: the lock of its home, its memory and its log on stderr.

A home has one server. Other processes may index, search and remove libraries at the same time; libraries have
their own locks.
"""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.locks import held, is_held
from ragweave.serve.replica import SERVER


@contextmanager
def only_server() -> Iterator[None]:
    """Hold the lock of the one server of this home; a database may have many servers."""
    if corpora_settings().database:
        yield
        return
    home, remedy = corpora_settings().home, "use or stop it, or give this one a RAGWEAVE_HOME"
    with held(home, "serve", 0, "A server of this home runs already, as", remedy):
        for left in (home / "locks").glob(f"{SERVER} *.lock"):  # of one that was killed
            is_held(home, left.stem)
        yield


def share_heap() -> None:
    """Let the threads of this process share one heap, if the C library is glibc.

    Otherwise glibc uses up to eight heaps for each core, and each keeps the memory of its busiest moment.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def settle() -> None:
    """Exclude permanent objects from garbage collection, and collect the rest more often.

    The command line collects cycles rarely, which suits a process of one question. In a server they would
    accumulate.
    """
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)


_ARENA_MAX = -8
"""M_ARENA_MAX of malloc.h."""
_EXTRA = ("request", "run", "status", "caller", "key", "seconds")
"""Facts that are logged with the message; headers, bodies and query strings are never logged."""
_CONTROL = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]")
"""Control characters, which terminals obey and readers do not see; addresses and names may contain them."""


def _shown(text: str) -> str:
    """Return a text with every control character but the line feed as its escape, as JSON writes it."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class WordsFormatter(logging.Formatter):
    """Format each record as one line of text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line; a traceback follows on separate lines."""
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        line = f"{at} {record.levelname.lower()} {record.getMessage()}"
        facts = _facts(record)
        facts.pop("status", None)  # the message has it
        if facts:
            pairs = [f"{name}={value}" for name, value in facts.items()]
            line += f" ({' '.join(pairs)})"
        line = _shown(line.replace("\n", " ").replace("\r", " "))
        if record.exc_info:
            line += f"\n{_shown(self.formatException(record.exc_info))}"
        return line


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    """Return the facts of a record that are logged with its message."""
    facts = {}
    for name in _EXTRA:
        value = getattr(record, name, "")
        if value != "":
            facts[name] = value
    return facts


class Json(logging.Formatter):
    """Format each record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line, including its traceback."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": at,
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _shown(json.dumps(line, ensure_ascii=False))


def set_up(form: str) -> None:
    """Write the log to stderr as `text` or `json`, or not at all (`none`).

    `debug` passes it to the root logger as well.
    """
    if form == "none":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Json() if form == "json" else WordsFormatter())
    for name in ("ragweave.serve", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = name == "ragweave.serve" and form == "debug"
        logger.setLevel(logging.INFO if name == "ragweave.serve" else logging.WARNING)
