"""The server's log on stderr: one line for each request and each run, for people or as JSON for programs."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

Form = Literal["text", "json", "none", "debug"]

_EXTRA = ("request", "run", "status", "caller", "seconds")
"""What is told besides the message; headers, bodies and query strings never are."""


class JsonLines(logging.Formatter):
    """One JSON object per record."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        told |= {k: getattr(record, k) for k in _EXTRA if hasattr(record, k)}
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


class Words(logging.Formatter):
    """One line of words per record."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line; a traceback follows on lines of its own."""
        facts = " ".join(f"{k}={getattr(record, k)}" for k in _EXTRA if getattr(record, k, "") != "" and k != "status")
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        line = f"{at} {record.levelname.lower()} {record.getMessage()}" + (f" ({facts})" if facts else "")
        line = line.replace("\n", " ").replace("\r", " ")
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up(form: str) -> None:
    """Send the log of the server to stderr."""
    if form == "none":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else Words())
    for name in ("ragweave.serve", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = name == "ragweave.serve" and form == "debug"
        logger.setLevel(logging.INFO if name == "ragweave.serve" else logging.WARNING)
