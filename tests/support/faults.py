"""Replies of the scripted server that go wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Fault:
    """A reply that goes wrong. Make one with the class methods."""

    kind: Literal["status", "stall", "drop", "cut", "html", "error_event", "length", "odd"]
    code: int = 200
    message: str = "scripted fault"
    error: str = ""
    retry_after: str = ""
    after: int = 0
    clean: bool = False
    parts: tuple[str, ...] = ()
    events: tuple[dict[str, Any], ...] = ()

    @classmethod
    def status(
        cls, code: int, message: str = "scripted fault", *, error: str = "", retry_after: str = ""
    ) -> Fault:
        """Answer with an HTTP error, its message, its error code and a Retry-After header."""
        return cls("status", code, message, error, retry_after)

    @classmethod
    def stall(cls, after: int = 0) -> Fault:
        """Say nothing more until the server closes; in a stream, after that many parts."""
        return cls("stall", after=after)

    @classmethod
    def drop(cls) -> Fault:
        """Close the connection without a word."""
        return cls("drop")

    @classmethod
    def cut(cls, after: int = 1, *, clean: bool = False, parts: tuple[str, ...] = ()) -> Fault:
        """End a stream after some parts: break the connection or, if `clean`, just end the stream."""
        return cls("cut", after=after, clean=clean, parts=parts)

    @classmethod
    def html(cls) -> Fault:
        """Answer with a web page, as a wrong address or a proxy does."""
        return cls("html")

    @classmethod
    def length(cls, text: str) -> Fault:
        """Answer with a text that was cut off because it became too long."""
        return cls("length", message=text)

    @classmethod
    def odd(cls, *events: dict[str, Any]) -> Fault:
        """Stream just these events, and end in order."""
        return cls("odd", events=events)

    @classmethod
    def error_event(cls, code: int = 503, after: int = 0) -> Fault:
        """Send an error inside a stream that began well."""
        return cls("error_event", code, after=after)
