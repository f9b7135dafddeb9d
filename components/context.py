"""Per-run knobs.

They become the form in Studio; secrets and addresses live in the environment, never here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from ragweave.components.method import Effort, Method, Preset, with_preset
from ragweave.corpora.types import Corpus, Recency
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.corpora.store.beside import FileBeside

T = TypeVar("T")
_TURNS_KEPT = 100
"""Turns that one context remembers: as many as may wait or run side by side."""

_FREE = 400
"""Sentences after which an answer of free length ends all the same."""
ROUNDS = 10
"""Most rounds of retrieval that a run may be allowed."""

Mode = Literal["auto", "extractive", "llm"]


MEMBER = "ragweave"
"""Member of the context of another graph that sets a run."""
_ALIKE = 0.75
"""How like a knob a name is that may be a slip of one."""


class Context(BaseModel):
    """What a caller may set for one run.

    Bounds are enforced; defaults answer well on a laptop without any key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    _turns: OrderedDict[str, Any] = PrivateAttr(default_factory=OrderedDict)
    _joined: tuple[Mapping[str, Any], Context] | None = PrivateAttr(None)
    _files: tuple[FileBeside, ...] = PrivateAttr(())

    library: str = Field("default", min_length=1, max_length=200, description="Name of the library to ask.")
    mode: Mode = Field(
        "auto",
        description=(
            "extractive quotes the closest passages, llm has the chat model write, auto is llm where one is "
            "configured."
        ),
    )
    model: str = Field(
        "",
        max_length=200,
        description="Chat model that answers, of RAGWEAVE_CHATS; empty: RAGWEAVE_CHAT.",
    )
    fresh: bool = Field(
        False, description="Call the chat model for every step, also where a reply of it is kept."
    )
    effort: Effort = Field(
        "normal",
        description=(
            "low searches one round and never in other words; high has a chat model grade, rewrites also what"
            " looks ambiguous, shows more passages and asks on for up to five rounds. Knobs that are set"
            " besides win."
        ),
    )
    preset: Preset = Field(
        "none", description="Settings of a published run of one method; knobs that are set besides win."
    )
    method: Method = Field(Method(), description="What papers fixed and measured; set by the preset.")
    route_by: Literal["auto", "local", "llm", "checkpoint", "ensemble"] = Field(
        "auto",
        description=(
            "auto is local, which searches every corpus of a library of several media and weighs finds by its"
            " confidence."
        ),
    )
    grade_by: Literal["auto", "local", "llm", "checkpoint"] = Field(
        "auto", description="Evaluator for the verdict; auto is local."
    )
    corpora: tuple[Corpus, ...] = Field(
        (), description="Search only these corpora; empty lets the router decide."
    )
    sources: tuple[str, ...] = Field(
        (),
        max_length=200,
        description="Search only these files and recordings: file names, titles, or ids of sources.",
    )
    collection: str = Field(
        "", max_length=4_000, description="Search only sources in this folder and below it."
    )
    from_time: float | None = Field(None, ge=0, description="Search recordings only from this second on.")
    to_time: float | None = Field(None, ge=0, description="Search recordings only up to this second.")
    look: Literal["auto", "off"] = Field(
        "auto",
        description="Look at found pictures, and at frames of clips, where a vision model is configured.",
    )
    top_k: int | None = Field(
        None,
        ge=1,
        le=50,
        description="Items kept per hop after fusion, none of them a part of another; empty: 8.",
    )
    recency: Recency = Field(
        "auto",
        description="Prefer newer documents always, never, or (auto) as the library and the question ask.",
    )
    max_hops: int = Field(3, ge=0, le=ROUNDS, description="Rounds of retrieval (Auto-RAG T).")
    check_by: Literal["on", "strict", "off"] = Field(
        "on",
        description=(
            "Check of each sentence by a chat model, in one call an answer; strict shows only sentences that "
            "a source supports; off checks nothing."
        ),
    )
    web: Literal["off", "ask", "auto"] = Field(
        "off", description="Web search: never, after consent, or when needed."
    )
    sentences: int = Field(
        3,
        ge=0,
        le=40,
        description="Longest answer, in sentences; from 20 on in paragraphs; 0: no limit.",
    )
    max_model_calls: int = Field(40, ge=0, le=10_000, description="Chat model calls this run may make.")
    max_tokens: int = Field(0, ge=0, description="Tokens this run may use, in and out; 0 means no limit.")
    max_seconds: float = Field(
        120, ge=0, description="Seconds this run may take; passages are quoted after them. 0 means no limit."
    )
    max_cost: float = Field(
        0, ge=0, description="Money this run may cost, in the unit of your rates; 0 means no limit."
    )

    if not TYPE_CHECKING:  # the fields stay the signature

        def __init__(self, /, **given):
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise refused(error) from None

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        return with_preset(given) if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _ordered(self) -> Context:
        if self.from_time is not None and self.to_time is not None and self.to_time <= self.from_time:
            raise ValueError("the time range ends before it begins")
        return self

    @property
    def kept(self) -> int:
        """Items of a hop that are kept."""
        return self.top_k or 8

    @property
    def shown(self) -> int:
        """Items of all hops that a writer sees: all of one hop, and half as many again of the eight."""
        return max(12, self.kept)

    @property
    def longest(self) -> int:
        """Sentences of a chat model that are shown at most: it may overrun what it was asked for by as much again."""
        return 2 * self.sentences or _FREE

    @classmethod
    def of(cls, runtime: Any, begun: Mapping[str, Any] | None = None) -> Context:
        """Return the run's context; plain `graph.invoke(x)` gives none, some servers give a dict.

        The context of another graph, of which this one is a node, may hold ours as its member `ragweave`.

        `begun` is what was set when the turn began that the run goes on with: it holds where the run does not
        say.
        """
        given = _own(getattr(runtime, "context", None), cls.model_fields)
        context = given if isinstance(given, cls) else cls(**given)
        return context._over(begun) if begun else context

    @property
    def files(self) -> tuple[FileBeside, ...]:
        """Files that are asked beside the library; no knob, for a door alone puts them there."""
        return self._files

    def with_method(self, **changed: Any) -> Context:
        """Return the same knobs with other settings of the method."""
        return self.model_copy(update={"method": self.method.model_copy(update=changed)})

    def with_files(self, files: Iterable[FileBeside]) -> Context:
        """Return the same knobs with files that came with the question."""
        made = self.model_copy()
        made._files = tuple(files)
        return made

    def set_knobs(self) -> dict[str, Any]:
        """Return what was set, as plain data that a state can hold."""
        return self.model_dump(mode="json", exclude_unset=True)

    def _over(self, begun: Mapping[str, Any]) -> Context:
        method = begun.get("method", {})
        if begun.keys() <= self.model_fields_set and method.keys() <= self.method.model_fields_set:
            return self
        if self._joined is None or self._joined[0] != begun:  # once for all nodes of a run
            own = self.model_dump(exclude_unset=True)
            joined = type(self).model_validate(
                {**begun, **own, "method": {**method, **own.get("method", {})}}
            )
            joined._turns, joined._files = self._turns, self._files
            self._joined = begun, joined
        return self._joined[1]

    def turn(self, name: str, make: Callable[[], T]) -> T:
        """Return what the nodes of one turn share; it lives with the context of its run, and `make` opens it."""
        if name not in self._turns:
            self._turns[name] = make()
            while len(self._turns) > _TURNS_KEPT:
                self._turns.popitem(last=False)
        return cast("T", self._turns[name])


def _own(given: Any, knobs: Collection[str]) -> Any:
    """Return what a run's context sets for us: all of it, or its member `ragweave` if it belongs to another graph.

    Raises:
        InputError: that member is neither a Context nor a dict.
    """
    if given is None or isinstance(given, Context):
        return given or {}
    held = given.get(MEMBER) if isinstance(given, Mapping) else getattr(given, MEMBER, None)
    if held is not None and not isinstance(held, Context | Mapping):
        raise InputError(
            f"the member {MEMBER} of the context is a {type(held).__name__}", "give a ragweave.Context"
        )
    if held is None and isinstance(given, Mapping):
        ours = any(name in knobs or get_close_matches(str(name), knobs, 1, _ALIKE) for name in given)
        return given if ours or not given else {}
    return held or {}


def refused(
    error: ValidationError, remedy: str = "see the settings of a run in docs/configuration.md"
) -> InputError:
    """Return what to tell of settings that were refused: the first of them, and why."""
    first = error.errors()[0]
    name, why = ".".join(str(part) for part in first["loc"]), str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        why = "there is no such setting"
        fields = (Method if name.startswith("method.") else Context).model_fields
        if near := get_close_matches(name.removeprefix("method."), fields, 1):
            remedy = f"write {near[0]}, or {remedy}"
    return InputError(": ".join(filter(None, (name, why[:1].lower() + why[1:]))), remedy)
