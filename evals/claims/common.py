"""What the claims share: kept records, a model that gives kept replies, intervals and plots."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import Field

from ragweave.evals.bootstrap import interval, paired
from ragweave.models.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RECORDS = Path(__file__).resolve().parent / "records"
Row = dict[str, Any]


@dataclass(frozen=True)
class Given:
    """What a claim is given: the folder of public data, if any, and a folder for its libraries."""

    data: Path | None
    work: Path


@dataclass(frozen=True)
class ClaimReport:
    """What a claim prints, its figures under flat keys, and what draws its plot."""

    text: str
    figures: dict[str, float]
    draw: Callable[[Path], None] = field(repr=False)


def shortened(text: str, left_out: tuple[str, ...]) -> str:
    """Return a report without the sections and the lines that begin with some words."""
    sections = []
    for section in text.split("\n\n"):
        if not section.startswith(left_out):
            lines = [line for line in section.splitlines() if not line.startswith(left_out)]
            sections.append("\n".join(lines))
    return "\n\n".join(sections)


def read_rows(name: str) -> list[Row]:
    """Return the rows of a record.

    Raises:
        InputError: it is not there.
    """
    path = RECORDS / f"{name}.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"the record {path.name} cannot be read ({error.strerror})", "restore it") from error
    rows = []
    for line in lines:
        if line.strip():
            rows.append(json.loads(line))
    return rows


def lookup(rows: Iterable[Mapping[str, Any]], key: str, value: str) -> dict[str, Any]:
    """Return one field of rows by another field."""
    found = {}
    for row in rows:
        found[row[key]] = row[value]
    return found


def write_rows(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a record whole."""
    path = RECORDS / f"{name}.jsonl"
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    new.replace(path)


def key_of(messages: Sequence[Any]) -> str:
    """Return the key under which the reply to a prompt is kept: a digest of roles and texts."""
    return _digest(_said(messages))


def _said(messages: Sequence[Any]) -> list[list[str]]:
    return [[_role(message), _text(message)] for message in messages]


def _digest(said: Sequence[Sequence[str]]) -> str:
    return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()[:20]


def _role(message: Any) -> str:
    role = str(message[0] if isinstance(message, tuple) else message.type)
    return {"human": "user", "ai": "assistant"}.get(role, role)


def _text(message: Any) -> str:
    return str(message[1] if isinstance(message, tuple) else message.text)


class KeptChat(BaseChatModel):
    """A chat model that gives back the reply that is kept for a prompt.

    A prompt without one raises InputError, and `missing` notes it.
    """

    kept: Mapping[str, str]
    """Replies by `key_of` their prompts."""
    missing: list[Row] = Field(default_factory=list)
    model_name: str = "kept replies"

    def with_structured_output(self, *schema: Any, **options: Any) -> Runnable[Any, Any]:
        """Return the model: its replies are read as text."""
        return self.bind() | RunnableLambda(lambda message: message)

    @property
    def _llm_type(self) -> str:
        return "kept"

    def _said(self, messages: Sequence[BaseMessage]) -> list[list[str]]:
        """Return the role and the text of each message, as they count for the key."""
        return _said(messages)

    def _absent(self, key: str) -> Exception:
        return InputError(f"no reply is kept for the prompt {key}", "restore the records of this claim")

    def _reply(self, messages: Sequence[BaseMessage]) -> str:
        said = self._said(messages)
        key = _digest(said)
        if key in self.kept:
            return self.kept[key]
        self.missing.append({"key": key, "messages": said})
        raise self._absent(key)

    def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> ChatResult:
        message = AIMessage(self._reply(messages), response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self, messages: list[BaseMessage], *given: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content=self._reply(messages)))
        ended = AIMessageChunk(content="", response_metadata={"finish_reason": "stop"}, chunk_position="last")
        yield ChatGenerationChunk(message=ended)


def share(values: Sequence[float]) -> str:
    """Return a mean with its 95 % interval."""
    found = interval(values)
    return f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]"


def gain(base: Sequence[float], other: Sequence[float]) -> str:
    """Return the mean of `other` minus that of `base` over the same questions, with its 95 % interval."""
    found = paired(base, other)
    return f"{found.mean:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def drawing(panels: int, size: tuple[float, float]) -> tuple[Any, list[Axes]]:
    """Return a figure with panels side by side.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("a plot", "dev") from error
    matplotlib.use("Agg")
    # Without a random salt and a date the same figures make the same file.
    matplotlib.rcParams["svg.hashsalt"] = "ragweave"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, panels, figsize=size, constrained_layout=True, squeeze=False)
    return figure, list(axes[0])


def save(figure: Any, path: Path) -> None:
    """Write a figure as its ending says (.svg, .png)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    dated = {"Date": None} if path.suffix == ".svg" else {}
    figure.savefig(path, dpi=110, metadata=dated)


def bars(axis: Axes, series: Mapping[str, Sequence[float]], names: Sequence[str], most: float = 1.0) -> None:
    """Draw a group of lying bars for each name, one bar a series."""
    height = 0.8 / len(series)
    for at, (label, values) in enumerate(series.items()):
        highest = len(names) - 1 + 0.4 - height * (at + 0.5)
        places = [highest - n for n in range(len(names))]
        axis.barh(places, values, height * 0.92, label=label)
    axis.set_yticks(range(len(names)), list(names)[::-1])
    axis.set_xlim(0, most)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, fontsize="small")
