"""Typed errors. Every message is one sentence that says what happened and what to do about it."""

from __future__ import annotations

from typing import Any, Self


class RagweaveError(RuntimeError):
    """Base of every error Ragweave raises on purpose.

    A RuntimeError, because of other classes than Python's own the LangGraph server tells nothing; no
    ValueError, which parsers and pydantic catch. `what` went wrong is one clause, `remedy` another; the
    remedy says what the reader can do about it.
    """

    code = "error"
    """Kind of the error."""
    status = 400
    """HTTP status a server answers with."""
    key = ""
    """Name of the sentence in the catalogues of the page, `error.KEY`; "" if they have none."""

    def __init__(self, what: str, remedy: str = "") -> None:
        self.what = what.rstrip(".")
        self.remedy = remedy.rstrip(".")
        advice = f" {self.remedy[0].upper()}{self.remedy[1:]}." if self.remedy else ""
        self.values: dict[str, Any] = {}
        super().__init__(f"{self.what}.{advice}")

    def named(self, key: str, **values: Any) -> Self:
        """Name the sentence, so that a page shows it in the language of its reader, with these values in it."""
        self.key = key
        self.values = {name: v if isinstance(v, int | float) else str(v) for name, v in values.items()}
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


class StorageError(LibraryError):
    """A disk or a database refuses; `status` tells a client which: 507 for a disk, 503 for a database."""

    def __init__(self, what: str, remedy: str, status: int = 507) -> None:
        super().__init__(what, remedy)
        self.status = status


class DamagedError(StorageError):
    """A catalog can no longer be read."""


class LibraryNotFound(LibraryError):
    """No library of that name exists."""

    code = "library_not_found"
    status = 404


class SourceError(RagweaveError):
    """One file cannot be read; the rest of the batch goes on."""

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
    """A prompt is longer than the model reads: its server refused it, or read a part and said nothing."""


class ReplyCut(ModelError):
    """A reply ended at a limit of tokens: what came of it is not all."""

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
    """An optional package is needed for what was asked."""

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
    """A web search is down, or takes too long: to ask it again at once would only cost the same time once more."""
