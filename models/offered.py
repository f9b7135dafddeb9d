"""What `ragweave setup` can have for a part: found on this machine or downloaded after a yes, and tried with a call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from ragweave.models.chat_client import address, is_local
from ragweave.models.context_window import told_by_server
from ragweave.models.errors import InputError, MissingExtra, ModelError, RagweaveError
from ragweave.models.listing import NoListError, checked, models_at
from ragweave.models.offers import OFFERS, SERVERS, SLOW, TABLE, Offer, PartName
from ragweave.models.settings import model_settings, settings_with, using

Values = dict[str, str]
"""Variables and what they are set to; an empty value takes the line out."""
Tell = Callable[[str], None]
_PROMPT = 20_000
"""Tokens of the longest prompt with its reply."""


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
    return [name, f"{name}_URL", f"{name}_KEY", *((f"{name}_CONTEXT", *SLOW) if part == "chat" else ())]


async def named(part: PartName, model: str, tell: Tell, url: str = "", key: str = "") -> Values:
    """Try a model that somebody names; return what is to be written.

    An address without the /v1 that it needs is completed. A chat model without a provider and an address is
    looked for on this machine.

    Raises:
        RagweaveError: it does not work. A key stands in no error.
    """
    model = model.strip()
    if url and part in ("reranker", "speech") and not model.startswith("api:"):
        model = f"api:{model}"
    try:
        if url:
            url = await _completed(checked(url), key)
        elif part in ("chat", "vision") and ":" not in model:
            url = await _found_here(model)
        return await _settled(part, model, tell, url, key)
    except RagweaveError as error:
        if key:
            error.hide(key)
        raise


async def _completed(url: str, key: str) -> str:
    try:
        return (await models_at(url, key)).url
    except NoListError:
        return url  # some servers answer and list nothing: the trial will tell


async def _found_here(model: str) -> str:
    for _, url, names in await _served():
        if {model, f"{model}:latest"} & {*names}:
            return url
    raise InputError(
        f"no server on this machine serves a model called {model!r}",
        "name its provider, as in openai:gpt-4o-mini, or the address of its server (--url)",
    )


async def _settled(part: PartName, model: str, tell: Tell, url: str = "", key: str = "") -> Values:
    """Try a model, ask its server how much it reads at once, and return what is to be written."""
    await _tried(part, model, tell, url, key)
    values = _values(part, model, url, key)
    if part == "chat" and url:
        # Asked after the trial: a server tells of a model that is loaded how it was loaded.
        size = await told_by_server(url, model, key)
        values["RAGWEAVE_CHAT_CONTEXT"] = str(size or "")
        tell(_about_context(size, url))
    return values


def _about_context(size: int, url: str) -> str:
    if not size:
        return (
            "Its server does not tell how many tokens it reads at once. Set RAGWEAVE_CHAT_CONTEXT where that"
            f" is less than {_PROMPT:,}."
        )
    told = f"It reads {size:,} tokens at once, and prompts are kept below that."
    if size < _PROMPT and urlsplit(url).port == SERVERS.get("Ollama"):
        told += f" Ollama reads more where OLLAMA_CONTEXT_LENGTH={_PROMPT} is set when it starts."
    return told


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
        return await _settled(part, name, tell, url)

    return Choice(text, take)


def _pulled(offer: Offer, url: str) -> Choice:
    async def take(tell: Tell) -> Values:
        await _pull(offer.name, url.removesuffix("/v1"), tell)
        return await _settled(offer.part, offer.name, tell, url)

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
        raise ModelError(
            f"Ollama did not finish the download of {name}", "try again: it goes on where it stopped"
        )


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
    names = " and ".join(one.name for one in (offer, *offer.beside))
    return f"download {names}: {offer.megabytes:,} MB, licence {offer.licence}; {offer.brings}"


def _pinned(offer: Offer) -> str:
    """Return the setting of an offer with the commit that it is held at, known or the hub's at this time.

    Blocking.
    """
    from ragweave.models import fastembed_files, hub

    match offer.source:
        case "whisper":
            wanted = (offer, *offer.beside)
            for one in wanted:
                hub.fetch(one.name, one.commit, tuple(one.sha256), sha256=one.sha256)
            return "whisper:" + "+".join(f"{one.name}@{one.commit}" for one in wanted)
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
        said = said.replace(key, "…") if key else said
        tell(f"{model} says: {said}" + (" (it was shown a blue picture)" if part == "vision" else ""))
        return
    trials: Mapping[str, tuple[Callable[[str], object], str]] = {
        "encoder": (trial.encoded, "gives vectors of {} numbers"),
        "reranker": (trial.ordered, "puts passage {} of two first, and 2 is right"),
        "pictures": (trial.seen, "gives vectors of {} numbers"),
        "speech": (trial.heard, "listens"),
    }
    attempt, words = trials[part]
    with using(settings_with(_values(part, model, url, key))):
        tell(f"{model.partition('@')[0]} {words.format(await asyncio.to_thread(attempt, model))}.")
