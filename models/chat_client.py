"""Connect to chat models; the connections of an event loop are shared."""

from __future__ import annotations

import asyncio
import email.utils
import ipaddress
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from ragweave.models.chat_events import PlainCompletions
from ragweave.models.chat_ways import Ways, recall, remember
from ragweave.models.errors import ModelError
from ragweave.models.meter import Meter
from ragweave.models.settings import Endpoint, ModelSettings, model_settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ragweave.models.chat_reply import ChatReply

_LONGEST_PAUSE = 5.0
"""Longest pause before the next try; if a server requests a longer one, there is no next try."""
_LINE = 2**20
"""Most bytes in one line of a stream."""
_CONNECT = 10.0
"""Seconds to wait for a connection. The reader of a reply sets the time limit of the reply."""


class Served(NamedTuple):
    """A chat model as configured: its name, its host, and how to reach it."""

    name: str
    host: str
    provider: str
    url: str
    key: SecretStr
    temperature: float | None

    @classmethod
    def of(cls, at: Endpoint, settings: ModelSettings) -> Served:
        """Parse a model such as `openai:gpt-4o-mini`; a server with a base URL gets the name unchanged."""
        provider, colon, name = at.model.partition(":")
        if at.url:
            name = name if provider == "openai" and colon else at.model
            provider, host = "openai", address(at.url)
        elif not colon:
            name, provider, host = at.model, "", "its provider"
        elif provider == "gguf":
            host = "127.0.0.1"
        else:
            host = address(_openai_url()) if provider == "openai" else provider
        return cls(name, host, provider, at.url, at.key, settings.chat_temperature)


def _openai_url() -> str:
    """Return the base URL that OpenAI's client uses."""
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        url = os.environ.get(variable)
        if url:
            return url
    return "https://api.openai.com/v1"


@dataclass
class Connection:
    """A client, and the known restrictions of its server."""

    model: BaseChatModel
    limit: Literal["", "max_tokens", "extra_body"] = ""
    """Where a request states the most tokens of a reply: nowhere, as the client does, or in the body."""
    enforces: bool = True
    """Whether requests may ask the server to enforce a schema."""
    ways: Ways = field(default_factory=Ways)
    """The form of requests after the refusals of the server."""
    kept: Callable[[Ways], None] | None = None
    """Stores the ways."""

    def __post_init__(self) -> None:
        self._first, self._known = self.model, replace(self.ways)
        self.model = self.ways.changed(self.model)

    async def learn(self, reply: ChatReply) -> None:
        """Remember the form of the request for a whole reply, and whether the reply began with thoughts."""
        if not reply.text.strip():
            return
        self.ways.thinks = bool(self.ways.thinks) or reply.broke
        if self.kept is not None and self._known != self.ways:
            self._known = replace(self.ways)
            await asyncio.to_thread(self.kept, self._known)

    def limited(self, bound: Any, most: int) -> Any:
        """Return the model with a limit of `most` tokens per reply, in the form that the server accepts."""
        if bound is not self.model and getattr(bound, "bound", None) is self._first:
            bound = bound.model_copy(update={"bound": self.model})
        most = min(most, self.ways.most or most)
        if not self.limit or not self.ways.limited:
            return bound
        if self.limit == "max_tokens":
            return bound.bind(max_tokens=most)
        body = dict(getattr(bound, "kwargs", {}).get("extra_body", {}))
        body["max_tokens"] = most
        return bound.bind(extra_body=body)

    def second_way(self, exc: BaseException, most: int, begun: bool) -> str:
        """Change the form of requests after a refusal; return the name of the changed way, or ""."""
        tempered = getattr(self._first, "temperature", None) is not None
        empty = self.kept is not None and not begun
        name = self.ways.refused(exc, most if self.limit else 0, tempered, empty)
        self.model = self.ways.changed(self._first)
        return name

    def undo(self, taken: Sequence[str]) -> None:
        """Go back to the first ways, because the second ones failed too."""
        self.ways.undo(taken)
        self.model = self.ways.changed(self._first)


def address(url: str) -> str:
    """Return host and port of a URL, without a name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def is_local(host: str) -> bool:
    """Return whether a host (with or without port) is this machine."""
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def stay_here(what: str, host: str) -> None:
    """Refuse a model on another machine if RAGWEAVE_OFFLINE is set.

    Raises:
        ModelError: if RAGWEAVE_OFFLINE is set and the host is another machine.
    """
    if model_settings().offline and not is_local(host):
        remote = f"RAGWEAVE_OFFLINE is set and {what} is not on this machine"
        raise ModelError(remote, "name a model that is, or unset RAGWEAVE_OFFLINE").named(
            "offline_model", what=what
        )


def build(served: Served) -> BaseChatModel:
    """Make the client. This imports the provider's package (about two seconds), so call it in a thread.

    A key of the environment is used only if no base URL is set: it belongs to its provider, not to any
    server.
    """
    options: dict[str, Any] = {} if served.temperature is None else {"temperature": served.temperature}
    key = served.key.get_secret_value()
    if key or served.url:
        options["api_key"] = SecretStr(key or "none")
    if served.provider not in ("openai", "gguf"):
        from langchain.chat_models import init_chat_model

        made: BaseChatModel = init_chat_model(
            ":".join(filter(None, (served.provider, served.name))), **options
        )
        return made
    from langchain_openai import ChatOpenAI
    from openai import Timeout

    url, name = served.url, served.name
    if served.provider == "gguf":
        from ragweave.models import chat_gguf

        url, options["api_key"] = chat_gguf.served(served.name)
        name = "local"
    if url:
        options |= {"base_url": url, "use_responses_api": False}
    # A Timeout object also keeps langchain-openai from sharing one HTTP pool among event loops. Its own wait
    # for each part is asyncio.wait_for, which in Python 3.11 loses a cancellation if the part has arrived.
    timeout = Timeout(None, connect=_CONNECT)
    client = ChatOpenAI(model=name, stream_usage=True, timeout=timeout, stream_chunk_timeout=None, **options)
    client.root_async_client._client.event_hooks = {"response": [partial(_bounded, served.host)]}
    client.async_client = PlainCompletions(client.root_async_client)
    return client


async def _bounded(host: str, response: Any) -> None:
    """Limit the length of a line in a response, because the client holds each line in memory."""
    _stop_long_pauses(response.headers)
    sent = response.stream
    kind: Any = _byte_stream_of(sent)

    class Bounded(kind):  # type: ignore[misc]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            line = 0
            async for part in sent:
                first, last = part.find(b"\n"), part.rfind(b"\n")
                if line + (len(part) if first < 0 else first) > _LINE:
                    what = (
                        f"{host} sent a line of more than {_LINE // 2**20} MiB, which is no reply of a model"
                    )
                    raise ModelError(what, "use another model, or look at the server's log").named(
                        "model_line_too_long", host=host, value=_LINE // 2**20
                    )
                line = line + len(part) if first < 0 else len(part) - last - 1
                yield part

        async def aclose(self) -> None:
            await sent.aclose()

    response.stream = Bounded()


def _byte_stream_of(stream: Any) -> Any:
    """Return the class AsyncByteStream of httpx, or of the fork that the stream comes from."""
    for base in type(stream).__mro__:
        if base.__name__ == "AsyncByteStream":
            return base
    raise TypeError(f"{type(stream).__name__} is not an AsyncByteStream")


def _stop_long_pauses(headers: Any) -> None:
    """Keep the client from another try if a server requests a long pause, because the user waits."""
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        value = headers.get(name, "")
        try:
            seconds = float(value or 0) / unit
        except ValueError:  # a date
            date = email.utils.parsedate_tz(value)
            seconds = email.utils.mktime_tz(date) - time.time() if date else 0.0
        if seconds > _LONGEST_PAUSE:
            headers["x-should-retry"] = "false"


def name_of(model: BaseChatModel) -> str:
    """Return the name of an injected model."""
    return str(getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__)


def host_of(model: BaseChatModel) -> str:
    """Return the host that an injected model calls."""
    base = getattr(getattr(model, "root_async_client", None), "base_url", None)
    return str(getattr(base, "host", "") or "this process")


_connections: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Served, Connection]] = WeakKeyDictionary()
"""The connections of each event loop; they end with it."""
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int], asyncio.Semaphore]] = (
    WeakKeyDictionary()
)


async def connect(served: Served) -> Connection:
    """Return the running event loop's connection to a model."""
    mine = _connections.setdefault(asyncio.get_running_loop(), {})
    if served not in mine:
        compatible = bool(served.url) or served.provider == "gguf"
        limit: Literal["", "max_tokens", "extra_body"] = ""
        if compatible:
            limit = "extra_body"
        elif served.provider in ("openai", "anthropic"):
            limit = "max_tokens"
        made = await asyncio.to_thread(build, served)
        file, server = ways_file(model_settings().home), f"{served.name} at {served.host}"
        ways = await asyncio.to_thread(recall, file, server)
        connection = Connection(made, limit, ways=ways, kept=partial(remember, file, server))
        mine.setdefault(served, connection)  # Another task may have connected in the meantime.
    return mine[served]


def ways_file(home: Path) -> Path:
    """Return the file that stores the ways of all servers."""
    return home / "cache" / "servers.json"


@asynccontextmanager
async def slot(host: str, width: int, node: str, meter: Meter) -> AsyncIterator[None]:
    """Hold one of the `width` calls that the running loop may have in flight at a server.

    Raises:
        BudgetSpent: if the run's time was over before a call was free.
    """
    mine = _gates.setdefault(asyncio.get_running_loop(), {})
    gate = mine.setdefault((host, width), asyncio.Semaphore(width))
    try:
        async with asyncio.timeout(meter.seconds_left):
            await gate.acquire()
    except TimeoutError as exc:
        meter.out_of_time()
        raise meter.cut_off(node) from exc
    try:
        yield
    finally:
        gate.release()
