"""What `ragweave setup` can have for a part: found on this machine or downloaded after a yes, and tried with a call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ragweave.models.chat_client import address, is_local
from ragweave.models.errors import MissingExtra, ModelError
from ragweave.models.offers import OFFERS, SERVERS, SLOW, TABLE, Offer, PartName
from ragweave.models.settings import model_settings

Values = dict[str, str]
"""Variables and what they are set to; an empty value takes the line out."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Choice:
    """Something that can be set up for a part: the line that tells it, and what does it."""

    text: str
    take: Callable[[Tell], Coroutine[Any, Any, Values]]
    """Download what is not here, try the model, and return what is to be written."""
    megabytes: int = 0
    """What is to be downloaded."""
    missing: str = ""
    """Extra that has to be installed first."""
    language: str = ""
    """The one language it is for; empty: many."""


async def choices(part: PartName) -> list[Choice]:
    """Return what can be had for a part: models that are served on this machine first, then downloads."""
    found: list[Choice] = []
    if part in ("chat", "vision"):
        for program, url, names in await _served():
            found += [_of_server(part, name, url, f"{name}, which {program} serves here") for name in names]
            if program == "Ollama":
                found += [_pulled(offer, url) for offer in _offers(part, "ollama") if offer.name not in names]
    return found + [_downloaded(offer) for offer in OFFERS if offer.part == part and offer.source != "ollama"]


def variables(part: PartName) -> list[str]:
    """Return the variables that belong to a part."""
    name = TABLE[part].variable
    return [name, f"{name}_URL", f"{name}_KEY", *(SLOW if part == "chat" else ())]


async def named(part: PartName, model: str, tell: Tell, url: str = "", key: str = "") -> Values:
    """Try a model that somebody names; return what is to be written.

    Raises:
        RagweaveError: it does not work.
    """
    await _tried(part, model, tell, url, key)
    return _values(part, model, url, key)


def _offers(part: PartName, source: str) -> list[Offer]:
    return [offer for offer in OFFERS if offer.part == part and offer.source == source]


async def _served() -> list[tuple[str, str, list[str]]]:
    """Return the programs that answer on this machine: name, base URL, and the chat models that they serve."""
    import httpx

    async def asked(client: httpx.AsyncClient, program: str, port: int) -> tuple[str, str, list[str]] | None:
        url = f"http://127.0.0.1:{port}/v1"
        try:
            rows: Any = (await client.get(f"{url}/models")).json()["data"] or []
            return program, url, [str(row["id"]) for row in rows if "embed" not in str(row["id"])]
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            return None

    async with httpx.AsyncClient(timeout=2, trust_env=False) as client:
        found = await asyncio.gather(*(asked(client, program, port) for program, port in SERVERS.items()))
    return [row for row in found if row]


def _of_server(part: PartName, name: str, url: str, text: str) -> Choice:
    async def take(tell: Tell) -> Values:
        await _tried(part, name, tell, url)
        return _values(part, name, url)

    return Choice(text, take)


def _pulled(offer: Offer, url: str) -> Choice:
    async def take(tell: Tell) -> Values:
        await _pull(offer.name, url.removesuffix("/v1"), tell)
        await _tried(offer.part, offer.name, tell, url)
        return _values(offer.part, offer.name, url)

    return Choice(_words(offer), take, offer.megabytes)


def _values(part: PartName, model: str, url: str = "", key: str = "") -> Values:
    name = TABLE[part].variable
    computed_here = model.startswith("gguf:") or (url and is_local(address(url)))
    slow = SLOW if part == "chat" and computed_here else {}
    return dict.fromkeys(variables(part), "") | {name: model, f"{name}_URL": url, f"{name}_KEY": key, **slow}


async def _pull(name: str, url: str, tell: Tell) -> None:
    """Have Ollama download a model, which checks what it gets; what was interrupted goes on where it ended."""
    import httpx

    if model_settings().offline:
        raise ModelError(f"RAGWEAVE_OFFLINE forbids the download of {name}", "unset RAGWEAVE_OFFLINE once")
    share = -1
    try:
        async with (
            httpx.AsyncClient(timeout=httpx.Timeout(10, read=300), trust_env=False) as client,
            client.stream("POST", f"{url}/api/pull", json={"model": name}) as reply,
        ):
            state = ""
            async for line in reply.aiter_lines():
                row = json.loads(line) if line.strip() else {}
                if row.get("error"):
                    raise ModelError(
                        f"Ollama could not download {name}: {row['error']}", "try again, or choose another"
                    )
                state = str(row.get("status") or state)
                done = 100 * int(row.get("completed") or 0) // max(1, int(row.get("total") or 0))
                if row.get("total") and done // 10 != share // 10:
                    share = done
                    tell(f"{name}: {done} %")
    except (httpx.HTTPError, ValueError, AttributeError) as exc:
        told = f"the download of {name} broke off ({type(exc).__name__})"
        raise ModelError(told, "try again: it goes on where it stopped") from exc
    if state != "success":
        raise ModelError(f"Ollama did not finish the download of {name}", "try again: it goes on where it stopped")


def _downloaded(offer: Offer) -> Choice:
    installed = all(find_spec(package) is not None for package in offer.packages)

    async def take(tell: Tell) -> Values:
        if not installed:
            raise MissingExtra(offer.name, offer.extra)
        from ragweave.models.hub import room_for

        room_for(offer.megabytes)
        setting = await asyncio.to_thread(_pinned, offer)
        await _tried(offer.part, setting, tell)
        return _values(offer.part, setting)

    return Choice(_words(offer), take, offer.megabytes, "" if installed else offer.extra, offer.language)


def _words(offer: Offer) -> str:
    return f"download {offer.name}: {offer.megabytes:,} MB, licence {offer.licence}; {offer.brings}"


def _pinned(offer: Offer) -> str:
    """Return the setting of an offer with the commit that it is held at, known or the hub's at this time. Blocking."""
    from ragweave.models import fastembed_files, hub

    match offer.source:
        case "whisper":
            hub.fetch(offer.name, offer.commit, tuple(offer.sha256), sha256=offer.sha256)
            return f"whisper:{offer.name}@{offer.commit}"
        case "gguf":
            return f"gguf:{offer.name}@{offer.commit or hub.newest(offer.name)}/{offer.file}"
        case _:
            import fastembed
            from fastembed.rerank.cross_encoder import TextCrossEncoder

            from ragweave.models.image_text import text_model

            texts, images = fastembed.TextEmbedding, fastembed.ImageEmbedding
            maker = {"encoder": texts, "reranker": TextCrossEncoder, "pictures": images}[offer.part]
            setting = f"fastembed:{fastembed_files.pinned(maker, offer.name)}"
            if offer.part == "pictures":
                setting += "+" + fastembed_files.pinned(texts, text_model(offer.name)).partition("@")[2]
            return setting


async def _tried(part: PartName, model: str, tell: Tell, url: str = "", key: str = "") -> None:
    """Call a model once, and tell what came back."""
    from pydantic import SecretStr

    from ragweave.models import trial
    from ragweave.models.settings import Endpoint

    if part in ("chat", "vision"):
        role: Any = "writer" if part == "chat" else "vision"
        said = await trial.said(role, Endpoint(model, url, SecretStr(key)))
        tell(f"{model} says: {said}" + (" (it was shown a blue picture)" if part == "vision" else ""))
        return
    trials: Mapping[str, tuple[Callable[[str], object], str]] = {
        "encoder": (trial.encoded, "gives vectors of {} numbers"),
        "reranker": (trial.ordered, "puts passage {} of two first, and 2 is right"),
        "pictures": (trial.seen, "gives vectors of {} numbers"),
        "speech": (trial.heard, "listens"),
    }
    attempt, words = trials[part]
    tell(f"{model.partition('@')[0]} {words.format(await asyncio.to_thread(attempt, model))}.")
