"""How many tokens a served model reads at once: set, told by its server, or learnt from what it reports of a prompt.

Some servers, Ollama among them, cut a prompt that is too long and say nothing; only the usage shows it.
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
"""Tokens that Ollama reads where nobody has told it otherwise."""
_LEAST, _MOST = 256, 16_000_000
"""Sizes that are believed."""
_NAMES = ("max_model_len", "context_window", "context_length", "max_context_length")
"""What servers call it in the list of their models: vLLM, Groq, OpenRouter, Mistral."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.M)
_TOLD = re.compile(r"(?:context|n_ctx)\D{0,60}?(\d{3,8})", re.I)
_PATIENCE = 3.0
"""Seconds that a server gets to tell its size."""
_BODY = 4 * 2**20
"""Bytes of an answer that are read."""
_SAFE = 1.2
"""Tokens that a model may count for each that is estimated."""
_WORSE = 1.4
"""By how much more is allowed for once a prompt was cut nevertheless."""
_FAR = 0.8
"""Share of the estimate below which a reported prompt looks cut."""
_STEP, _SLACK = 1_024, 4
"""Ceilings are multiples of this, less a few tokens."""
_FULL = 0.97
"""Share of the window that only a prompt fills that was cut."""
ASKED_FROM = 2_500
"""Estimated tokens of a prompt from which the size matters: no model in use reads less."""


@dataclass
class ContextWindow:
    """What is known of the window of one model at one server.

    Attributes:
        tokens: of prompt and reply together; 0 where it is not known.
        scale: tokens that the model counts for each estimated one, on the safe side.
        proved: estimated tokens of the longest prompt that seems to have been read whole.
        asked: whether the server was asked for its size.
    """

    tokens: int = 0
    scale: float = _SAFE
    proved: int = 0
    asked: bool = False

    def reply(self, most: int) -> int:
        """Return how many tokens a reply may have: not more than a quarter of the window."""
        return min(most, max(_LEAST, self.tokens // 4)) if self.tokens else most

    def room(self, most: int) -> int:
        """Return how many estimated tokens a prompt may have beside its reply; 0 where that is not known."""
        return int((self.tokens - self.reply(most)) / self.scale) if self.tokens else 0

    def doubtful(self, sent: int) -> bool:
        """Say whether a prompt of so many estimated tokens may be cut without a word."""
        return not self.tokens and sent > max(ASKED_FROM, self.proved)

    def cut(self, sent: int, read: int) -> bool:
        """Say whether a prompt was cut, by the tokens that the server says to have read, and learn from it.

        Args:
            sent: estimated tokens of the prompt.
            read: tokens of it as the server reports them; 0 where it does not.
        """
        at_ceiling = (
            sent > ASKED_FROM // 2 and read < _FAR * sent and read >= _STEP and -read % _STEP <= _SLACK
        )
        full = bool(self.tokens) and read >= _FULL * self.tokens
        if full:
            self.scale *= _WORSE
        elif at_ceiling:
            self.tokens = math.ceil(read / _STEP) * _STEP
        else:
            self.proved = max(self.proved, sent)
        return full or at_ceiling

    def refused(self, sent: int, words: str) -> None:
        """Learn from the refusal of a prompt of so many estimated tokens."""
        sizes = [size for found in _TOLD.findall(words) if (size := _size(int(found)))]
        if self.tokens and (not sizes or sizes[0] >= self.tokens):
            self.scale *= _WORSE
        else:
            self.tokens = sizes[0] if sizes else max(2 * _LEAST, sent // 2)

    async def learn(self, url: str, model: str, key: str) -> None:
        """Ask the server, once."""
        if not self.asked:
            self.asked = True
            self.tokens = await told_by_server(url, model, key) or self.tokens


_windows: dict[tuple[str, str, int], ContextWindow] = {}


def window_of(url: str, model: str, tokens: int = 0) -> ContextWindow:
    """Return what this process knows of the window of a model at a URL; `tokens` is what the settings say."""
    return _windows.setdefault((url, model, tokens), ContextWindow(tokens))


async def told_by_server(url: str, model: str, key: str = "") -> int:
    """Return how many tokens a model at an OpenAI-compatible URL reads at once, as its server tells it; 0: it does not.

    vLLM and several gateways tell it in the list of models, LM Studio in that of its own API, llama.cpp in
    its properties, Ollama for a model that is loaded, else by the parameters of the model.
    """
    import httpx

    root = url.rstrip("/").removesuffix("/v1")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        # The proxy of the environment is for other machines.
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
    sizes = [
        *(_size(row.get(name)) for row in _rows(listed, "data", model) for name in _NAMES),
        *(_size(row.get("loaded_context_length")) for row in _rows(own, "data", model)),
        *(_size(row.get("context_length")) for row in _rows(loaded, "models", model)),
        _size(_at(props, "default_generation_settings", "n_ctx")),
        _of_ollama(shown),
    ]
    return next(filter(None, sizes), 0)


async def _json(client: httpx.AsyncClient, method: str, url: str, body: Any = None) -> Any:
    """Return what an address answers, or None where that is no JSON of a usual size."""
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
    """Yield the rows of a list that are of a model."""
    rows = _at(body, name)
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and any(
            row.get(key) in (model, f"{model}:latest") for key in ("id", "name", "model")
        ):
            yield row


def _at(body: Any, *path: str) -> Any:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def _of_ollama(shown: Any) -> int:
    """Return the size that Ollama would load a model with: its own parameter, else the usual one."""
    info = _at(shown, "model_info")
    if not isinstance(info, dict):
        return 0
    own = _NUM_CTX.search(str(shown.get("parameters") or ""))
    if own and (size := _size(int(own[1]))):
        return size
    reads = [
        size for name, value in info.items() if name.endswith(".context_length") and (size := _size(value))
    ]
    return min([OLLAMA, *reads])


def _size(value: Any) -> int:
    known = isinstance(value, int) and not isinstance(value, bool) and _LEAST <= value <= _MOST
    return value if known else 0
