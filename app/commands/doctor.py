"""`ragweave doctor`: what works here, what is off, and what would turn it on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ragweave.app.commands.care import repair_all
from ragweave.app.commands.common import EXIT_ERROR, JsonOption, LibraryOption, console, print_json, run

_SIGNS = {"ok": ("ok", "green"), "off": ("off", "dim"), "warn": ("mind", "yellow"), "bad": ("BAD", "red")}


def doctor(
    call: Annotated[bool, typer.Option("--call", help="Ask the chat model for one word (may cost money).")] = False,
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
    from ragweave.app.doctor import examine

    found = run(examine(call=call))
    if as_json:
        print_json([asdict(f) for f in found])
    else:
        from rich.table import Table
        from rich.text import Text

        from ragweave.app.render import clean

        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column()
        for f in found:
            sign, style = _SIGNS[f.state]
            what = Text(clean(f.what))
            if f.remedy:
                what.append(f"\n→ {clean(f.remedy)}", style="dim" if f.state in ("ok", "off") else "bold")
            table.add_row(Text(sign, style=style), f.area, what)
        console().print(table)
    if any(f.state == "bad" for f in found):
        raise typer.Exit(EXIT_ERROR)
