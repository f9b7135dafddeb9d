"""The server of a home of files, of which there is one, its memory, and its log on stderr.

Libraries may be indexed, asked and removed by other processes meanwhile; their own locks see to that.
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

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.locks import held, is_held
from ragweave.serve.replica import SERVER


@contextmanager
def only_server() -> Iterator[None]:
    """Hold the lock of the one server of this home; servers of a database may be many."""
    if corpora_settings().database:
        yield
        return
    home, remedy = corpora_settings().home, "use or stop it, or give this one a RAGWEAVE_HOME"
    with held(home, "serve", 0, "A server of this home runs already, as", remedy):
        for left in (home / "locks").glob(f"{SERVER} *.lock"):  # of one that was killed
            is_held(home, left.stem)
        yield


def share_heap() -> None:
    """Have the threads of this process share one heap, where the C library is glibc.

    Otherwise there are eight for each core, and each keeps what its busiest moment took.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def settle() -> None:
    """Leave what is built for good out of the search for garbage, and look more often for what answers leave behind.

    The command looks for cycles seldom, as befits a process of one question: in a server they would pile up.
    """
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)


_ARENA_MAX = -8
"""M_ARENA_MAX of malloc.h."""
_EXTRA = ("request", "run", "status", "caller", "key", "seconds")
"""What is told besides the message; headers, bodies and query strings never are."""
_CONTROL = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]")
"""What a terminal acts upon, and a reader does not see; addresses and names may hold it. Lines are parted apart."""


def _shown(text: str) -> str:
    """Return a text with every control character but the line feed as its escape, as JSON writes it."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class WordsFormatter(logging.Formatter):
    """One line of words per record."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line; a traceback follows on lines of its own."""
        facts = " ".join(
            f"{k}={getattr(record, k)}" for k in _EXTRA if getattr(record, k, "") != "" and k != "status"
        )
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        line = f"{at} {record.levelname.lower()} {record.getMessage()}" + (f" ({facts})" if facts else "")
        line = _shown(line.replace("\n", " ").replace("\r", " "))
        return f"{line}\n{_shown(self.formatException(record.exc_info))}" if record.exc_info else line


class Json(logging.Formatter):
    """One object of JSON per record."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line, its traceback within."""
        facts = {k: getattr(record, k) for k in _EXTRA if getattr(record, k, "") != ""}
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": at, "level": record.levelname.lower(), "message": record.getMessage(), **facts}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _shown(json.dumps(line, ensure_ascii=False))


def set_up(form: str) -> None:
    """Send the log to stderr as `text` or `json`, or `none` of it; `debug` tells the root logger as well."""
    if form == "none":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Json() if form == "json" else WordsFormatter())
    for name in ("ragweave.serve", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = name == "ragweave.serve" and form == "debug"
        logger.setLevel(logging.INFO if name == "ragweave.serve" else logging.WARNING)
