"""`ragweave setup`: find a chat model here, or take the named one, try it, write its settings; offer better hearing."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from ragweave.app.commands.common import run
from ragweave.app.commands.setup_paper import set_up_paper
from ragweave.app.places import clean
from ragweave.models.errors import InputError, MissingExtra

PORTS = {"Ollama": 11_434, "llama.cpp": 8_080}
"""Where the two listen on 127.0.0.1 unless they are told otherwise; no other machine is ever looked at."""


def setup(
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Such as openai:gpt-4o-mini.")] = "",
    key: Annotated[str, typer.Option("--key", metavar="VARIABLE", help="Environment variable with its key.")] = "",
    hearing: Annotated[bool, typer.Option("--hearing", help="Set up what hears speech, and no chat model.")] = False,
    paper: Annotated[str, typer.Option("--paper", metavar="NAME", help="Fetch what a paper's authors published.")] = "",
    weights: Annotated[str, typer.Option("--weights", help="With --paper: a folder, or a copy on the hub.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the first that is found, and ask nothing.")] = False,
) -> None:
    """Find a chat model, ask it for one word, and write its settings to `.env` here after asking; offer better hearing.

    Without --model it looks for Ollama and llama.cpp on this machine. No key is used but the one that is named. Nothing
    is downloaded without a yes: --yes gives it for the downloads of --hearing and --paper only.
    """
    if hearing:
        _hear(yes)
        return
    if paper:
        set_up_paper(paper, weights, yes, _write)
        return
    if key and not os.environ.get(key):
        raise InputError(f"the environment has no {key}", "export it first")
    found = [(model, "")] if model else run(_served())
    if not found:
        if not yes and _offer():
            return
        told = "neither Ollama nor llama.cpp answers with a chat model on this machine"
        raise InputError(told, "start one, or name a model: ragweave setup --model openai:NAME --key OPENAI_API_KEY")
    for n, (name, url) in enumerate(found, 1):
        typer.echo(clean(f"{n}. {name}" + (f" at {url}" if url else "")))
    at = 1 if yes or len(found) == 1 else typer.prompt("Which one", default=1, type=int)
    if not 1 <= at <= len(found):
        raise InputError(f"there is no number {at}", f"give one from 1 to {len(found)}")
    name, url = found[at - 1]
    secret = os.environ.get(key, "")
    typer.echo(clean(f"{name} says: {run(_tried(name, url, secret))}"))
    path = Path(".env").absolute()
    if yes or typer.confirm(f"Write it to {path}?"):
        _write(path, {"RAGWEAVE_CHAT": name, "RAGWEAVE_CHAT_URL": url, "RAGWEAVE_CHAT_KEY": secret})
        typer.echo("Written. `ragweave ask` uses it from now on where it is started in this folder.")
    if not yes:
        _offer()


def _offer() -> bool:
    """Offer better hearing to who sits here and has not chosen any; tell whether it was set up."""
    from ragweave.models.settings import model_settings

    if model_settings().asr != "auto" or not _attended():
        return False
    try:
        return _hear(False)
    except MissingExtra as missing:
        typer.echo(f"{missing.what}: {missing.remedy}")
        return False


def _attended() -> bool:
    return sys.stdin.isatty()


def _hear(yes: bool) -> bool:
    """Download the small Whisper model after a yes, open it, and write that it hears; tell whether that was done.

    Raises:
        MissingExtra: the extra `video` is not installed.
        WeightsError: it cannot be had, or is not what it should be.
    """
    from ragweave.models.asr_whisper import Whisper
    from ragweave.models.settings import model_settings
    from ragweave.models.whisper_files import SMALL

    if find_spec("faster_whisper") is None:
        raise MissingExtra("hearing recordings", "video")
    typer.echo(
        f"Speech: Whisper small ({SMALL.repo} at {SMALL.commit[:12]}), {SMALL.megabytes} MB, licence {SMALL.licence}. "
        "It hears many languages; pocketsphinx, which listens without it, English alone."
    )
    if not (yes or typer.confirm(f"Download it to {model_settings().weights}?")):
        return False
    SMALL.fetch()
    Whisper(SMALL.setting.partition(":")[2]).check()
    _write(Path(".env").absolute(), {"RAGWEAVE_ASR": SMALL.setting})
    typer.echo("Written. The next `ragweave index` hears again what nobody has surely heard.")
    return True


async def _served() -> list[tuple[str, str]]:
    """Return the chat models that are served here, each with the URL of its server."""
    import httpx

    async def listed(client: httpx.AsyncClient, url: str) -> list[tuple[str, str]]:
        try:
            rows: Any = (await client.get(f"{url}/models")).json()["data"]
            return [(str(row["id"]), url) for row in rows if "embed" not in str(row["id"])]
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            return []

    urls = [f"http://127.0.0.1:{port}/v1" for port in PORTS.values()]
    async with httpx.AsyncClient(timeout=2, trust_env=False) as client:
        return [row for rows in await asyncio.gather(*(listed(client, url) for url in urls)) for row in rows]


async def _tried(name: str, url: str, key: str) -> str:
    from pydantic import SecretStr

    from ragweave.models.chat import Chat
    from ragweave.models.chat_client import Served
    from ragweave.models.meter import Meter
    from ragweave.models.settings import Endpoint, model_settings

    at = Served.of(Endpoint(name, url, SecretStr(key)), model_settings())
    said = await Chat("writer", at).text([("user", "Reply with the word: ready")], node="setup", meter=Meter())
    return " ".join(said.split())[:60] or "nothing"


def _write(path: Path, values: dict[str, str]) -> None:
    from dotenv import set_key, unset_key

    path.touch(mode=0o600)
    for name, value in values.items():
        if value:
            set_key(path, name, value)
        elif name in path.read_text(encoding="utf-8"):
            unset_key(path, name)
