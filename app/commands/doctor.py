"""`ragweave doctor`: what works on this machine, what is off, and what would turn it on."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
from collections.abc import Callable, Coroutine
from functools import partial
from importlib import metadata
from typing import Annotated, Any

import typer
from rich.filesize import decimal as size
from rich.text import Text

from ragweave.app.commands.care import repair_all
from ragweave.app.commands.common import EXIT_ERROR, JsonOption, LibraryOption, print_json, print_table, run
from ragweave.app.findings import Finding, part_of
from ragweave.app.places import clean
from ragweave.app.render import counted, listed
from ragweave.app.versions import versions
from ragweave.models.errors import RagweaveError
from ragweave.models.offers import PARTS, TABLE, PartName

_SIGNS = {"ok": ("ok", "green"), "off": ("off", "dim"), "warn": ("mode", "yellow"), "bad": ("BAD", "red")}
_TIGHT = 1_000_000_000
"""Bytes of free disk below which indexing a folder may not end well."""


def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", help="Make the stores agree again, and compact them.")
    ] = False,
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what works here and what is off.

    Looks at Python, packages, home, libraries, models and optional channels. Exit code 2 if something will
    fail. With --repair it says how the stores of one library, or of all, were before and are now.
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
        "versions": versions,
        "libraries": _libraries,
        "device": _device,
        **{TABLE[name].title: partial(_part, name) for name in PARTS},
        "check of answers": _check,
        "words in pictures": _pictures,
        "web search": _web,
    }
    python = (
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()}"
        " cores"
    )
    packages = ", ".join(
        f"{n} {metadata.version(n)}" for n in ("ragweave", "langgraph", "langchain-core", "chromadb")
    )
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
        return [
            Finding(
                "home", "bad", f"{home} cannot be written to", "set RAGWEAVE_HOME to a folder of your own"
            )
        ]
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


async def _pictures() -> list[Finding]:
    from ragweave.models.ocr import installed
    from ragweave.models.settings import model_settings

    if not installed():
        what = "pictures and scans are not read; captions and alternative texts in documents are"
        return [Finding("words in pictures", "off", what, "install it with: pip install 'ragweave[images]'")]
    if model_settings().ocr == "off":
        what = "pictures are kept, and the words in them are not read"
        return [Finding("words in pictures", "off", what, "unset RAGWEAVE_OCR")]
    return [Finding("words in pictures", "ok", "they are read, on scanned pages as well (rapidocr)")]


async def _part(name: PartName) -> list[Finding]:
    return [await part_of(name)]


async def _check() -> list[Finding]:
    from ragweave.app.examined import finding

    return [await finding()]


async def _web() -> list[Finding]:
    from ragweave.components.run_settings import run_settings
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.web.providers import available

    provider = available()
    if not provider:
        return [Finding("web search", "off", "no provider is set", "docs/web.md says how to set one")]
    folder = corpora_settings().web_folder
    if folder is not None and not folder.expanduser().is_dir():
        what = f"the folder {folder}, which stands in for the web, is not there"
        return [Finding("web search", "bad", what, "make it, or mend RAGWEAVE_WEB_FOLDER")]
    use = {
        "off": "not used unless a run asks for it",
        "ask": "used after consent",
        "auto": "used when needed",
    }
    return [Finding("web search", "ok", f"{provider}; {use[run_settings().defaults.get('web', 'off')]}")]
