"""Typed errors. Every message is one sentence that says what happened and what to do about it."""

from __future__ import annotations

from typing import Any, Self


class RagweaveError(RuntimeError):
    """Base of every error Ragweave raises on purpose.

    It is a RuntimeError, because the LangGraph server only reports errors of Python's own classes. It is no
    ValueError, because parsers and pydantic catch those. `what` is a clause about the failure; `remedy` is a
    clause about what the reader can do.
    """

    code = "error"
    """Kind of the error."""
    status = 400
    """HTTP status a server answers with."""
    key = ""
    """Key of the message in the catalogues of the page, `error.KEY`; "" if they have none."""

    def __init__(self, what: str, remedy: str = "") -> None:
        self.what = what.rstrip(".")
        self.remedy = remedy.rstrip(".")
        advice = f" {self.remedy[0].upper()}{self.remedy[1:]}." if self.remedy else ""
        self.values: dict[str, Any] = {}
        super().__init__(f"{self.what}.{advice}")

    def named(self, key: str, **values: Any) -> Self:
        """Set the key of the message, so that a page can translate it and fill in these values."""
        self.key = key
        self.values = {}
        for name, value in values.items():
            self.values[name] = value if isinstance(value, int | float) else str(value)
        return self

    def hide(self, secret: str) -> None:
        """Put `…` in the place of a secret, wherever the error holds it."""
        self.args = (str(self).replace(secret, "…"),)
        self.what = self.what.replace(secret, "…")
        self.remedy = self.remedy.replace(secret, "…")
        for name, value in self.values.items():
            if isinstance(value, str):
                self.values[name] = value.replace(secret, "…")


class InputError(RagweaveError):
    """The question, path or option given by the user cannot be used."""

    code = "input"


class LibraryError(RagweaveError):
    """A library is missing, locked, or was written by another encoder or a newer version."""

    code = "library"
    status = 409


NO_ROOM = 507
"""HTTP status if a disk refuses to write."""


class StorageError(LibraryError):
    """A disk or a database refuses to write; `status` is 507 for a disk and 503 for a database.

    `inside` are details for the operator of the server, such as the address of the database.
    """

    def __init__(self, what: str, remedy: str, status: int = NO_ROOM, inside: str = "") -> None:
        super().__init__(f"{what} ({inside})" if inside else what, remedy)
        self.status, self.inside = status, inside


class DamagedError(StorageError):
    """A catalog can no longer be read."""


class LibraryNotFound(LibraryError):
    """No library of that name exists."""

    code = "library_not_found"
    status = 404


class SourceError(RagweaveError):
    """One file cannot be read; the rest of the batch continues."""

    code = "source"
    status = 422


class ModelError(RagweaveError):
    """A chat, embedding or perception model failed for good, after retries."""

    code = "model"
    status = 502


class ModelTransient(ModelError):
    """A model call failed in a way that may pass (429, 5xx, timeout, dropped connection)."""

    code = "model_transient"
    status = 503


class PromptCut(ModelError):
    """A prompt is too long for the model: its server refused it or silently read only a part."""


class ReplyCut(ModelError):
    """A reply ended at a limit of tokens, so it is not complete."""

    code = "reply_cut"


class BudgetSpent(RagweaveError):
    """A limit of the run (calls, tokens, seconds, cost) would be passed by the next call."""

    code = "budget"
    status = 402


class WeightsError(RagweaveError):
    """Downloaded or local weights are missing, or do not match their sha256."""

    code = "weights"
    status = 500


class MissingExtra(RagweaveError):
    """An optional package is missing."""

    code = "missing_extra"
    status = 501

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs an optional package", f"install it with: pip install 'ragweave[{extra}]'"
        )


class WebError(RagweaveError):
    """A web search or page fetch failed or was refused."""

    code = "web"
    status = 502


class WebDown(WebError):
    """A web search is down or too slow, so another request at once would only take the same time."""
