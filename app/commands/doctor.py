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
from ragweave.app.versions import database, versions
from ragweave.models.errors import RagweaveError
from ragweave.models.offers import PARTS, TABLE, PartName

_SIGNS = {"ok": ("ok", "green"), "off": ("off", "dim"), "warn": ("note", "yellow"), "bad": ("BAD", "red")}
_LOW_DISK = 1_000_000_000
"""Bytes of free disk below which indexing a folder may fail."""


def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", help="Make the stores consistent again, and compact them.")
    ] = False,
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what works on this machine and what is off.

    Checks Python, packages, home, libraries, models and optional channels. Exit code 2 if something will
    fail. With --repair it prints what was repaired in one library, or in all.
    """
    if repair:
        repair_all(library, as_json)
        return
    found = run(examine())
    if as_json:
        print_json([finding._asdict() for finding in found])
    else:
        print_table(("", "", ""), [_row(finding) for finding in found])
    if "bad" in [finding.state for finding in found]:
        raise typer.Exit(EXIT_ERROR)


def _row(finding: Finding) -> tuple[Text, str, Text]:
    """Return the cells of a finding: sign, area, and what was found with its remedy."""
    sign, style = _SIGNS[finding.state]
    what = Text(clean(finding.what))
    if finding.remedy:
        remedy_style = "dim" if finding.state in ("ok", "off") else "bold"
        what.append(f"\n→ {clean(finding.remedy)}", style=remedy_style)
    return Text(sign, style=style), finding.area, what


async def examine() -> list[Finding]:
    """Check every area; an area that raises an error becomes a finding itself."""
    areas: dict[str, Callable[[], Coroutine[Any, Any, list[Finding]]]] = {
        "home": _home,
        "database": database,
        "versions": versions,
        "libraries": _libraries,
        "device": _device,
    }
    for name in PARTS:
        areas[TABLE[name].title] = partial(_part, name)
    areas |= {
        "check of answers": _check,
        "words in pictures": _pictures,
        "entity graph": _entities,
        "web search": _web,
    }
    found = _python()
    for area, check in areas.items():
        try:
            found += await check()
        except RagweaveError as error:
            found.append(Finding(area, "bad", error.what, error.remedy))
    return found


def _python() -> list[Finding]:
    """Return the versions of Python and of the main packages."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    packages: list[str] = []
    for name in ("ragweave", "langgraph", "langchain-core", "chromadb"):
        packages.append(f"{name} {metadata.version(name)}")
    return [
        Finding("python", "ok", f"Python {platform.python_version()} on {machine}"),
        Finding("packages", "ok", ", ".join(packages)),
    ]


async def _home() -> list[Finding]:
    """Check that the home can be written to, and that its disk has space."""
    from ragweave.corpora.settings import corpora_settings

    home = corpora_settings().home
    existing = home
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        what = f"{home} cannot be written to"
        return [Finding("home", "bad", what, "set RAGWEAVE_HOME to a folder of your own")]
    free = shutil.disk_usage(existing).free
    what = f"{home}, {size(free)} free"
    if existing != home:
        what += " (made at first use)"
    if free < _LOW_DISK:
        return [Finding("home", "warn", what, "free some disk, or set RAGWEAVE_HOME to another one")]
    return [Finding("home", "ok", what)]


async def _libraries() -> list[Finding]:
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.stores import stores

    none = [Finding("libraries", "ok", "none yet", "make one: ragweave index FOLDER")]
    # Scanning would create the home; this command must not change anything.
    if not await asyncio.to_thread(os.path.isdir, corpora_settings().home):
        return none
    rows, broken = await asyncio.to_thread(stores().catalog.scan)
    if not rows and not broken:
        return none
    found = [Finding("libraries", "bad", error.what, error.remedy) for error in broken]
    for row in rows:
        try:
            found.append(await _library(row.name))
        except RagweaveError as error:
            found.append(Finding(f"library {row.name}", "bad", error.what, error.remedy))
    return found


async def _library(name: str) -> Finding:
    """Return what a library holds, and how many of its sources failed."""
    from ragweave.corpora.store.library import open_library

    library = await open_library(name)
    sources = await library.sources()
    counts: list[str] = []
    for corpus, count in (await library.counts()).items():
        if count:
            counts.append(counted(count, corpus))
    what = f"{counted(len(sources), 'source')}: {listed(counts) or 'nothing in them'}"
    failed = [source.status for source in sources].count("failed")
    if not failed:
        return Finding(f"library {name}", "ok", what)
    what = f"{what}; {counted(failed, 'source')} failed"
    return Finding(f"library {name}", "warn", what, "`ragweave sources` says why")


async def _device() -> list[Finding]:
    from ragweave.models.device import places

    return [Finding("device", "ok", await asyncio.to_thread(places))]


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


async def _entities() -> list[Finding]:
    from ragweave.app.entity_graph import finding

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
        what = f"the folder {folder}, which is searched instead of the web, does not exist"
        return [Finding("web search", "bad", what, "make it, or correct RAGWEAVE_WEB_FOLDER")]
    use = {
        "off": "not used unless a run asks for it",
        "ask": "used after consent",
        "auto": "used when needed",
    }
    return [Finding("web search", "ok", f"{provider}; {use[run_settings().defaults.get('web', 'off')]}")]
