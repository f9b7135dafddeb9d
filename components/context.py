"""Hold the knobs of one run.

They become the form in Studio. Secrets and addresses are set in the environment, never here.
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
"""Turns that one context keeps the state of: at least as many as may wait or run concurrently."""

_FREE = 400
"""Sentences after which an answer without a length limit ends."""
ROUNDS = 10
"""Upper limit of `max_hops`."""

Mode = Literal["auto", "extractive", "llm"]


MEMBER = "ragweave"
"""Member of another graph's context that holds ours."""
_ALIKE = 0.75
"""Similarity to a knob from which a name may be a misspelling of it."""


class Context(BaseModel):
    """Settings of one run.

    Bounds are enforced. The defaults answer well on a laptop without any API key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    _turns: OrderedDict[str, Any] = PrivateAttr(default_factory=OrderedDict)
    _joined: tuple[Mapping[str, Any], Context] | None = PrivateAttr(None)
    _files: tuple[FileBeside, ...] = PrivateAttr(())

    library: str = Field("default", min_length=1, max_length=200, description="Name of the library to ask.")
    mode: Mode = Field(
        "auto",
        description=(
            "extractive quotes the closest passages, llm has the chat model write, auto is llm if one is "
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
            " looks ambiguous, shows more passages and asks on for up to five rounds. Knobs that you set"
            " win."
        ),
    )
    preset: Preset = Field(
        "none", description="Settings of a published run of one method; knobs that you set win."
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
        """Items to keep per hop."""
        return self.top_k or 8

    @property
    def shown(self) -> int:
        """Items of all hops that a writer sees: at least twelve, and all of one hop."""
        return max(12, self.kept)

    @property
    def longest(self) -> int:
        """Sentences of a chat model to show at most: twice as many as the prompt allows."""
        return 2 * self.sentences or _FREE

    @classmethod
    def of(cls, runtime: Any, begun: Mapping[str, Any] | None = None) -> Context:
        """Return the context of a run.

        Args:
            runtime: of LangGraph. Plain `graph.invoke(x)` sets no context, some servers set a dict. A graph
                that has ours as a node may hold our context as its member `ragweave`.
            begun: knobs of the turn that the run continues; they hold unless the run sets its own.
        """
        given = _own(getattr(runtime, "context", None), cls.model_fields)
        context = given if isinstance(given, cls) else cls(**given)
        return context._over(begun) if begun else context

    @property
    def files(self) -> tuple[FileBeside, ...]:
        """Files to search together with the library; no knob, because only the interfaces set them."""
        return self._files

    def with_method(self, **changed: Any) -> Context:
        """Return the same knobs with changed settings of the method."""
        return self.model_copy(update={"method": self.method.model_copy(update=changed)})

    def with_files(self, files: Iterable[FileBeside]) -> Context:
        """Return the same knobs with files that came with the question."""
        made = self.model_copy()
        made._files = tuple(files)
        return made

    def set_knobs(self) -> dict[str, Any]:
        """Return the knobs that the caller set, as plain data for the state."""
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
        """Return the state that the nodes of one turn share; `make` creates it at the first call."""
        if name not in self._turns:
            self._turns[name] = make()
            while len(self._turns) > _TURNS_KEPT:
                self._turns.popitem(last=False)
        return cast("T", self._turns[name])


def _own(given: Any, knobs: Collection[str]) -> Any:
    """Return our part of a run's context: all of it, or its member `ragweave` in another graph's context.

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
        return given if _sets_any(given, knobs) else {}
    return held or {}


def _sets_any(given: Iterable[Any], knobs: Collection[str]) -> bool:
    """Return whether one of the given names is a knob or a misspelling of one."""
    for name in given:
        if name in knobs or get_close_matches(str(name), knobs, 1, _ALIKE):
            return True
    return False


def refused(
    error: ValidationError, remedy: str = "see the settings of a run in docs/configuration.md"
) -> InputError:
    """Return an error that names the first refused setting and the reason."""
    first = error.errors()[0]
    name = ".".join(map(str, first["loc"]))
    reason = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        reason = "there is no such setting"
        fields = (Method if name.startswith("method.") else Context).model_fields
        near = get_close_matches(name.removeprefix("method."), fields, 1)
        if near:
            remedy = f"write {near[0]}, or {remedy}"
        elif first["type"] == "extra_forbidden":
            remedy += (
                f"; in the context of another graph, give the settings of this one as its member `{MEMBER}`"
            )
    reason = reason[:1].lower() + reason[1:]
    return InputError(f"{name}: {reason}" if name else reason, remedy)
