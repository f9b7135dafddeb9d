"""Find, download and try the models that `ragweave setup` offers for a part."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ragweave.models.chat_client import address, is_local
from ragweave.models.context_window import size_from_server
from ragweave.models.errors import InputError, MissingExtra, ModelError, RagweaveError
from ragweave.models.listing import NoListError, checked, models_at
from ragweave.models.offers import OFFERS, SERVERS, SLOW, TABLE, Offer, PartName
from ragweave.models.settings import model_settings, settings_with, using

if TYPE_CHECKING:
    import httpx

Values = dict[str, str]
"""Values of variables; an empty value removes the line."""
Tell = Callable[[str], None]
_PROMPT = 20_000
"""Tokens of the longest prompt together with its reply."""


@dataclass(frozen=True)
class Choice:
    """A choice for a part: its line of text, and the function that sets it up."""

    text: str
    take: Callable[[Tell], Coroutine[Any, Any, Values]]
    """Download missing files, try the model, and return the values to write."""
    megabytes: int = 0
    """Size of the download."""
    missing: str = ""
    """Extra that the user has to install first."""
    language: str = ""
    """The only language of the model; empty: many."""


async def choices(part: PartName) -> list[Choice]:
    """Return the choices for a part: first models that servers on this machine offer, then downloads."""
    found: list[Choice] = []
    if part in ("chat", "vision"):
        for program, url, names in await _served():
            for name in names:
                found.append(_of_server(part, name, url, f"{name}, which {program} serves here"))
            if program == "Ollama":
                found += _pulls(part, url, names)
    for offer in OFFERS:
        if offer.part == part and offer.source != "ollama":
            found.append(_downloaded(offer))
    return found


def _pulls(part: PartName, url: str, names: list[str]) -> list[Choice]:
    """Return the models that Ollama can download for a part and does not serve yet."""
    found: list[Choice] = []
    for offer in OFFERS:
        if offer.part == part and offer.source == "ollama" and offer.name not in names:
            found.append(_pulled(offer, url))
    return found


def variables(part: PartName) -> list[str]:
    """Return the variables that belong to a part."""
    name = TABLE[part].variable
    found = [name, f"{name}_URL", f"{name}_KEY"]
    if part == "chat":
        found += [f"{name}_CONTEXT", *SLOW]
    return found


async def named(part: PartName, model: str, tell: Tell, url: str = "", key: str = "") -> Values:
    """Try a model that the user names; return the values to write.

    An address that lacks its /v1 is completed. A chat model without a provider and an address is searched on
    the servers of this machine.

    Raises:
        RagweaveError: if the model does not work. The error never contains the key.
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
        return url  # Some servers list no models but answer, so the trial decides.


async def _found_here(model: str) -> str:
    for _, url, names in await _served():
        if model in names or f"{model}:latest" in names:
            return url
    raise InputError(
        f"no server on this machine serves a model called {model!r}",
        "name its provider, as in openai:gpt-4o-mini, or the address of its server (--url)",
    )


async def _settled(part: PartName, model: str, tell: Tell, url: str = "", key: str = "") -> Values:
    """Try a model, ask its server for the context size, and return the values to write."""
    await _tried(part, model, tell, url, key)
    values = _values(part, model, url, key)
    if part == "chat" and url:
        # Ask after the trial, because some servers only report the size of a loaded model.
        size = await size_from_server(url, model, key)
        values["RAGWEAVE_CHAT_CONTEXT"] = str(size or "")
        tell(_about_context(size, url))
    return values


def _about_context(size: int, url: str) -> str:
    if not size:
        return (
            "Its server does not tell how many tokens it reads at once. Set RAGWEAVE_CHAT_CONTEXT where that"
            f" is less than {_PROMPT:,}."
        )
    note = f"It reads {size:,} tokens at once, and prompts are kept below that."
    if size < _PROMPT and urlsplit(url).port == SERVERS.get("Ollama"):
        note += f" Ollama reads more where OLLAMA_CONTEXT_LENGTH={_PROMPT} is set when it starts."
    return note


async def _served() -> list[tuple[str, str, list[str]]]:
    """Return name, base URL and chat models of each server program that answers on this machine."""
    import httpx

    async with httpx.AsyncClient(timeout=2, trust_env=False) as client:
        calls = [_models_of(client, program, port) for program, port in SERVERS.items()]
        found = await asyncio.gather(*calls)
    return list(filter(None, found))


async def _models_of(client: httpx.AsyncClient, program: str, port: int) -> tuple[str, str, list[str]] | None:
    """Return name, base URL and chat models of one server program, or None if it does not answer."""
    import httpx

    url = f"http://127.0.0.1:{port}/v1"
    names: list[str] = []
    try:
        rows: Any = (await client.get(f"{url}/models")).json()["data"] or []
        for row in rows:
            name = str(row["id"])
            if "embed" not in name:
                names.append(name)
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None
    return program, url, names


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
    values = dict.fromkeys(variables(part), "")
    values |= {name: model, f"{name}_URL": url, f"{name}_KEY": key}
    runs_here = model.startswith("gguf:") or (url and is_local(address(url)))
    if part == "chat" and runs_here:
        values |= SLOW
    return values


async def _pull(name: str, url: str, tell: Tell) -> None:
    """Have Ollama download a model. Ollama checks the digests and resumes an interrupted download."""
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
        broke_off = f"the download of {name} broke off ({type(exc).__name__})"
        raise ModelError(broke_off, "try again: it resumes where it stopped") from exc
    if state != "success":
        raise ModelError(
            f"Ollama did not finish the download of {name}", "try again: it resumes where it stopped"
        )


def _downloaded(offer: Offer) -> Choice:
    installed = None not in [find_spec(package) for package in offer.packages]

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
    names = " and ".join([one.name for one in (offer, *offer.companions)])
    return f"download {names}: {offer.megabytes:,} MB, licence {offer.licence}; {offer.brings}"


def _pinned(offer: Offer) -> str:
    """Download an offer and return its setting with the known commit or the newest commit. Blocking."""
    from ragweave.models import fastembed_files, hub

    match offer.source:
        case "whisper":
            pinned: list[str] = []
            for one in (offer, *offer.companions):
                hub.fetch(one.name, one.commit, tuple(one.sha256), sha256=one.sha256)
                pinned.append(f"{one.name}@{one.commit}")
            return "whisper:" + "+".join(pinned)
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
    """Call a model once, and report its answer."""
    from pydantic import SecretStr

    from ragweave.models import trial
    from ragweave.models.settings import Endpoint

    if part in ("chat", "vision"):
        role: Any = "writer" if part == "chat" else "vision"
        answer = await trial.said(role, Endpoint(model, url, SecretStr(key)))
        if key:
            answer = answer.replace(key, "…")
        shown = " (it was shown a blue picture)" if part == "vision" else ""
        tell(f"{model} says: {answer}{shown}")
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
