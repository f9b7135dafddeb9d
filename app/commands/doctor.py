"""`ragweave doctor`: what works on this machine, what is off, and what would turn it on."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
from collections.abc import Callable, Coroutine
from importlib import metadata
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.filesize import decimal as size
from rich.text import Text

from ragweave.app.commands.care import repair_all
from ragweave.app.commands.common import EXIT_ERROR, JsonOption, LibraryOption, print_json, print_table, run
from ragweave.app.places import clean
from ragweave.app.render import counted, listed
from ragweave.models.errors import RagweaveError

_SIGNS = {"ok": ("ok", "green"), "off": ("off", "dim"), "warn": ("mode", "yellow"), "bad": ("BAD", "red")}
_TIGHT = 1_000_000_000
"""Bytes of free disk below which indexing a folder may not end well."""


class Finding(NamedTuple):
    """One line of the report.

    The state is `off` for what is optional and not there, `bad` for what will fail.
    """

    area: str
    state: Literal["ok", "off", "warn", "bad"]
    what: str
    remedy: str = ""


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Make the stores agree again, and compact them.")] = False,
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what works here and what is off.

    Looks at Python, packages, home, libraries, models and optional channels. Exit code 2 if something will fail. With
    --repair it looks at the stores of one library, or of all, and says how they were before and are now.
    """
    if repair:
        repair_all(library, as_json)
        return
    found = run(examine())
    if as_json:
        print_json([f._asdict() for f in found])
    else:
        rows = []
        for f in found:
            sign, style = _SIGNS[f.state]
            what = Text(clean(f.what))
            if f.remedy:
                what.append(f"\n→ {clean(f.remedy)}", style="dim" if f.state in ("ok", "off") else "bold")
            rows.append((Text(sign, style=style), f.area, what))
        print_table(("", "", ""), rows)
    if any(f.state == "bad" for f in found):
        raise typer.Exit(EXIT_ERROR)


async def examine() -> list[Finding]:
    """Look at everything; an area that cannot be examined becomes a finding itself."""
    areas: dict[str, Callable[[], Coroutine[Any, Any, list[Finding]]]] = {
        "home": _home,
        "libraries": _libraries,
        "device": _device,
        "encoder": _encoder,
        "mode": _mind,
        "pictures": _pictures,
        "recordings": _recordings,
        "web search": _web,
    }
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    packages = ", ".join(f"{n} {metadata.version(n)}" for n in ("ragweave", "langgraph", "langchain-core", "chromadb"))
    found = [Finding("python", "ok", python), Finding("packages", "ok", packages)]
    for area, look in areas.items():
        try:
            found += await look()
        except RagweaveError as error:
            found.append(Finding(area, "bad", error.what, error.remedy))
    return found


async def _home() -> list[Finding]:
    from ragweave.corpora.settings import corpora_settings

    home = corpora_settings().home
    there = next(p for p in (home, *home.parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return [Finding("home", "bad", f"{home} cannot be written to", "set RAGWEAVE_HOME to a folder of your own")]
    free = shutil.disk_usage(there).free
    what = f"{home}, {size(free)} free" + ("" if there == home else " (made at first use)")
    if free < _TIGHT:
        return [Finding("home", "warn", what, "free some disk, or set RAGWEAVE_HOME to another one")]
    return [Finding("home", "ok", what)]


async def _libraries() -> list[Finding]:
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.library import open_library
    from ragweave.corpora.store.stores import stores

    # Listing would make the home, and a look around should leave no trace.
    there = await asyncio.to_thread(os.path.isdir, corpora_settings().home)
    rows, broken = await asyncio.to_thread(stores().catalog.scan) if there else ([], [])
    found = [Finding("libraries", "bad", error.what, error.remedy) for error in broken]
    if not rows and not broken:
        return [Finding("libraries", "ok", "none yet", "make one: ragweave index FOLDER")]
    for name in (row.name for row in rows):
        area = f"library {name}"
        try:
            opened = await open_library(name)
            sources = await opened.sources()
            counts = [counted(n, c) for c, n in (await opened.counts()).items() if n]
        except RagweaveError as error:
            found.append(Finding(area, "bad", error.what, error.remedy))
            continue
        what = f"{counted(len(sources), 'source')}: {listed(counts) or 'nothing in them'}"
        if failed := sum(s.status == "failed" for s in sources):
            what = f"{what}; {counted(failed, 'source')} failed"
            found.append(Finding(area, "warn", what, "`ragweave sources` says why"))
        else:
            found.append(Finding(area, "ok", what))
    return found


async def _device() -> list[Finding]:
    from ragweave.models.device import device_of, torch_device

    try:
        import torch
    except ImportError:
        place, name = device_of(0, "torch"), "no torch is installed"
    else:
        place = await asyncio.to_thread(torch_device, torch)
        name = "no GPU is used" if place == "cpu" else torch.cuda.get_device_name(place)
    return [Finding("device", "ok", f"models compute on {place} ({name})")]


async def _encoder() -> list[Finding]:
    from ragweave.models.embed import encoder

    found = await asyncio.to_thread(encoder)
    vector = await asyncio.to_thread(found.queries, ["Is anyone there?"])
    return [Finding("encoder", "ok", f"{found.name}, vectors of {vector.shape[1]} numbers")]


async def _mind() -> list[Finding]:
    import httpx

    from ragweave.models.chat import chat
    from ragweave.models.settings import model_settings

    writer = chat("writer")
    if writer is None:
        what = "no chat model is set: a question is answered by quotes of the closest passages"
        return [Finding("mode", "off", what, "`ragweave setup` sets one up for written answers (docs/writer.md)")]
    what = f"chat model {writer.name} at {writer.host}"
    url = model_settings().chat_url
    if not url:
        return [Finding("mode", "ok", f"{what} (not called: `ragweave setup` asks it for one word)")]
    try:
        # No tokens are spent on looking whether a server is there.
        async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
            status = (await client.get(f"{url}/models")).status_code
        problem = f"it answers {status}" if status >= 500 else ""
    except httpx.HTTPError as error:
        problem = str(error) or type(error).__name__
    if problem:
        remedy = "start the server or mend RAGWEAVE_CHAT_URL"
        return [Finding("mode", "bad", f"{what} cannot be reached ({problem})", remedy)]
    return [Finding("mode", "ok", f"{what}, the server answers")]


async def _pictures() -> list[Finding]:
    from ragweave.models.image_text import image_encoder
    from ragweave.models.ocr import installed
    from ragweave.models.settings import model_settings

    settings = model_settings()
    read = Finding("pictures", "ok", "the words in pictures and on scanned pages are read (rapidocr)")
    if not installed():
        what = "pictures and scans are not read; captions and alternative texts in documents are"
        read = Finding("pictures", "off", what, 'pip install "ragweave[images]"')
    elif settings.ocr == "off":
        read = Finding("pictures", "off", "pictures are kept, and the words in them are not read", "unset RAGWEAVE_OCR")
    encoder = await asyncio.to_thread(image_encoder)
    looks = f"; {settings.vision or settings.chat} is shown them" if settings.vision or settings.chat else ""
    looks += ", and describes them at indexing" if settings.vision else ""
    if encoder is not None:
        what = f"pictures are seen by {encoder.name}, vectors of {encoder.dim} numbers{looks}"
        return [read, Finding("pictures", "ok", what)]
    what = f"pictures are found by what is written about them and in them{looks}"
    remedy = "RAGWEAVE_IMAGE_TEXT names an image-text encoder that finds them by what they show"
    return [read, Finding("pictures", "off", what, remedy)]


async def _recordings() -> list[Finding]:
    from ragweave.corpora.video.intake import installed
    from ragweave.models.asr import asr

    state: Literal["ok", "off"] = "off"
    if not installed():
        what = "videos and sound are not read; transcripts (VTT, SRT, JSON Lines) are"
        remedy = 'pip install "ragweave[video]"'
    elif (listens := asr()) is None:
        what = "videos are looked at, and nobody listens: subtitles are used where there are any"
        remedy = "set RAGWEAVE_ASR"
    elif listens.label == "pocketsphinx":
        state, what = "ok", "videos are looked at, and heard by pocketsphinx: English only, one word in four is wrong"
        remedy = "RAGWEAVE_ASR=whisper:small understands more, after a download"
    else:
        state, what, remedy = "ok", f"videos are looked at, and heard by {listens.name}", ""
    return [Finding("recordings", state, what, remedy)]


async def _web() -> list[Finding]:
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.web.providers import available
    from ragweave.graphs.settings import run_settings

    provider = available()
    if not provider:
        return [Finding("web search", "off", "no provider is set", "docs/web.md says how to set one")]
    folder = corpora_settings().web_folder
    if folder is not None and not folder.expanduser().is_dir():
        what = f"the folder {folder}, which stands in for the web, is not there"
        return [Finding("web search", "bad", what, "make it, or mend RAGWEAVE_WEB_FOLDER")]
    use = {"off": "not used unless a run asks for it", "ask": "used after consent", "auto": "used when needed"}
    return [Finding("web search", "ok", f"{provider}; {use[run_settings().web]}")]
