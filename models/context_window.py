"""Find the context size of a served model in the settings, from its server, or by the reported usage.

Some servers, such as Ollama, cut a prompt that is too long without a message; only the usage shows it.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragweave.models.chat_client import address, is_local

if TYPE_CHECKING:
    import httpx

OLLAMA = 4_096
"""Tokens that Ollama reads by default."""
_LEAST, _MOST = 256, 16_000_000
"""Smallest and largest plausible size."""
_NAMES = ("max_model_len", "context_window", "context_length", "max_context_length")
"""Names of the size in the model lists of vLLM, Groq, OpenRouter and Mistral."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.M)
_SIZE_IN_WORDS = re.compile(r"(?:context|n_ctx)\D{0,60}?(\d{3,8})", re.I)
_PATIENCE = 3.0
"""Seconds to wait for the answers of a server."""
_BODY = 4 * 2**20
"""Most bytes of an answer that are read."""
_SAFE = 1.2
"""Tokens that a model may count for each estimated token."""
_WORSE = 1.4
"""Factor by which the scale grows after a prompt was cut in spite of it."""
_FAR = 0.8
"""Share of the estimate below which a reported prompt looks cut."""
_STEP, _SLACK = 1_024, 4
"""Servers cut prompts at multiples of this, less a few tokens."""
_FULL = 0.97
"""Share of the window that only a cut prompt fills."""
ASKED_FROM = 2_500
"""Estimated tokens from which the size matters, because every model in use reads that many."""


@dataclass
class ContextWindow:
    """The known facts about the context window of one model at one server.

    Attributes:
        tokens: size for prompt and reply together; 0 if it is not known.
        scale: upper bound of the tokens that the model counts for each estimated token.
        proved: estimated tokens of the longest prompt that the model seems to have read whole.
        asked: whether the server was asked for its size.
    """

    tokens: int = 0
    scale: float = _SAFE
    proved: int = 0
    asked: bool = False

    def reply(self, most: int) -> int:
        """Return how many tokens a reply may have: not more than a quarter of the window."""
        if not self.tokens:
            return most
        return min(most, max(_LEAST, self.tokens // 4))

    def room(self, most: int) -> int:
        """Return how many estimated tokens a prompt may have in addition to its reply; 0 if not known."""
        if not self.tokens:
            return 0
        return int((self.tokens - self.reply(most)) / self.scale)

    def doubtful(self, sent: int) -> bool:
        """Return whether the server may silently cut a prompt of `sent` estimated tokens."""
        return not self.tokens and sent > max(ASKED_FROM, self.proved)

    def cut(self, sent: int, read: int) -> bool:
        """Return whether the server cut a prompt, and learn from the tokens that it reports.

        Args:
            sent: estimated tokens of the prompt.
            read: tokens of the prompt as the server reports them; 0 if it reports none.
        """
        much_less = sent > ASKED_FROM // 2 and read < _FAR * sent
        at_ceiling = much_less and read >= _STEP and -read % _STEP <= _SLACK
        full = bool(self.tokens) and read >= _FULL * self.tokens
        if full:
            self.scale *= _WORSE
        elif at_ceiling:
            self.tokens = math.ceil(read / _STEP) * _STEP
        else:
            self.proved = max(self.proved, sent)
        return full or at_ceiling

    def refused(self, sent: int, words: str) -> None:
        """Learn from the message of a server that refused a prompt of `sent` estimated tokens."""
        sizes = list(filter(None, map(_size, map(int, _SIZE_IN_WORDS.findall(words)))))
        if self.tokens and (not sizes or sizes[0] >= self.tokens):
            self.scale *= _WORSE
        else:
            self.tokens = sizes[0] if sizes else max(2 * _LEAST, sent // 2)
        if self.room(self.tokens) >= sent > 0:
            self.scale = _WORSE * self.tokens / sent  # The server counts more tokens than were estimated.

    async def learn(self, url: str, model: str, key: str) -> None:
        """Ask the server for the size, once."""
        if not self.asked:
            self.asked = True
            self.tokens = await size_from_server(url, model, key) or self.tokens


_windows: dict[tuple[str, str, int], ContextWindow] = {}


def window_of(url: str, model: str, tokens: int = 0) -> ContextWindow:
    """Return the window of a model at a URL, shared in this process; `tokens` is the size in the settings."""
    return _windows.setdefault((url, model, tokens), ContextWindow(tokens))


async def size_from_server(url: str, model: str, key: str = "") -> int:
    """Ask an OpenAI-compatible server for the context size of a model; 0 if it does not report one.

    vLLM and several gateways report it in the list of models, LM Studio in the list of its own API, and
    llama.cpp in its properties. Ollama reports it for a loaded model, else in the parameters of the model.
    """
    import httpx

    root = url.rstrip("/").removesuffix("/v1")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        # A proxy of the environment must not see requests to this machine.
        trusts = not is_local(address(url))
        async with (
            asyncio.timeout(_PATIENCE),
            httpx.AsyncClient(timeout=_PATIENCE, headers=headers, trust_env=trusts) as client,
        ):
            listed, own, loaded, props, shown = await asyncio.gather(
                _json(client, "GET", f"{url}/models"),
                _json(client, "GET", f"{root}/api/v0/models"),
                _json(client, "GET", f"{root}/api/ps"),
                _json(client, "GET", f"{root}/props"),
                _json(client, "POST", f"{root}/api/show", {"model": model}),
            )
    except TimeoutError:
        return 0
    return (
        _first_size(_rows(listed, "data", model), _NAMES)
        or _first_size(_rows(own, "data", model), ("loaded_context_length",))
        or _first_size(_rows(loaded, "models", model), ("context_length",))
        or _size(_at(props, "default_generation_settings", "n_ctx"))
        or _of_ollama(shown)
    )


def _first_size(rows: Iterable[dict[str, Any]], names: Iterable[str]) -> int:
    """Return the first plausible size under one of the names, or 0."""
    for row in rows:
        for name in names:
            size = _size(row.get(name))
            if size:
                return size
    return 0


async def _json(client: httpx.AsyncClient, method: str, url: str, body: Any = None) -> Any:
    """Return the JSON that an address answers, or None if the answer is too large or no JSON."""
    import httpx

    read = b""
    try:
        async with client.stream(method, url, json=body) as reply:
            if reply.status_code != 200:
                return None
            async for part in reply.aiter_bytes():
                read += part
                if len(read) > _BODY:
                    return None
        return json.loads(read)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
        return None


def _rows(body: Any, name: str, model: str) -> Iterable[dict[str, Any]]:
    """Yield the rows of a list that describe a model."""
    rows = _at(body, name)
    if not isinstance(rows, list):
        return
    wanted = (model, f"{model}:latest")
    for row in rows:
        if not isinstance(row, dict):
            continue
        if row.get("id") in wanted or row.get("name") in wanted or row.get("model") in wanted:
            yield row


def _at(body: Any, *path: str) -> Any:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def _of_ollama(shown: Any) -> int:
    """Return the size with which Ollama would load a model: the model's parameter, else the default."""
    info = _at(shown, "model_info")
    if not isinstance(info, dict):
        return 0
    own = _NUM_CTX.search(str(shown.get("parameters") or ""))
    set_size = _size(int(own[1])) if own else 0
    if set_size:
        return set_size
    smallest = OLLAMA
    for name, value in info.items():
        size = _size(value) if name.endswith(".context_length") else 0
        if size:
            smallest = min(smallest, size)
    return smallest


def _size(value: Any) -> int:
    known = isinstance(value, int) and not isinstance(value, bool) and _LEAST <= value <= _MOST
    return value if known else 0
