"""`ragweave setup`: the guided step to quality, a part at a time.

Nothing is downloaded or written without a yes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer

from ragweave.app.commands.common import run
from ragweave.app.commands.setup_paper import set_up_paper
from ragweave.models.errors import InputError
from ragweave.models.offers import PARTS, PartName


def setup(
    parts: Annotated[
        list[str] | None,
        typer.Argument(metavar="PARTS", help=f"Of {', '.join(PARTS)}; default: all of them."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Take the recommended model of each part that has none.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing, and download.")] = False,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="Take this model, such as openai:gpt-4o-mini.")
    ] = "",
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Where it is served, usually ending in /v1.")
    ] = "",
    key: Annotated[
        str, typer.Option("--key", metavar="VARIABLE", help="Environment variable with its key.")
    ] = "",
    remove: Annotated[bool, typer.Option("--remove", help="Go back to what ships.")] = False,
    paper: Annotated[
        str, typer.Option("--paper", metavar="NAME", help="Fetch what a paper's authors published.")
    ] = "",
    weights: Annotated[
        str, typer.Option("--weights", help="With --paper: a folder, or a copy on the hub.")
    ] = "",
) -> None:
    """Set up better models, one part at a time: what is here, what can be downloaded, or one that you name.

    Each is named with its size and licence, tried with one call, and written to your own settings after a
    yes. The environment and a `.env` file in the working folder count before them.
    """
    from ragweave.app import guide
    from ragweave.models.offered import named, variables

    if paper:
        set_up_paper(paper, weights, yes)
        return
    wanted = _parts(parts)
    if model or remove:
        if len(parts or ()) > 1 or (remove and not parts):
            raise InputError("it is not clear which part is meant", f"name one of {', '.join(PARTS)}")
        part = wanted[0]
        if (url or key) and part == "pictures":
            raise InputError("the image encoder runs on this machine", "leave --url and --key out")
        if key and not os.environ.get(key):
            # What was typed may be the key itself: it is not printed.
            raise InputError(
                "--key takes the name of an environment variable, and none of that name is set",
                "export the key and name its variable, or leave --key out and run `ragweave setup chat`",
            )
        values = dict.fromkeys(variables(part), "")
        if model:
            values = run(named(part, model, guide.say, url, os.environ.get(key, "")))
        guide.keep(part, values, yes)
    elif everything:
        guide.take_all(wanted, yes)
    elif yes:
        raise InputError("--yes needs to know to what", "add --all, or name a model with --model")
    else:
        guide.ask_each(wanted)


def _parts(given: Sequence[str] | None) -> list[PartName]:
    if strange := [word for word in given or () if word not in PARTS]:
        raise InputError(f"there is no part {strange[0]!r}", f"use {', '.join(PARTS)}")
    return [part for part in PARTS if not given or part in given]
