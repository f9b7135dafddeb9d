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

ENTITIES = "entities"
"""The part without a model of its own: the entity graph, which the chat model builds."""
_WORDS = (*PARTS, ENTITIES)

PartsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="PARTS", help=f"Of {', '.join(_WORDS)}; default: all of them."),
]
AllOption = Annotated[
    bool, typer.Option("--all", help="Take the recommended model of each part that has none.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing, and download.")]
ModelOption = Annotated[
    str, typer.Option("--model", metavar="NAME", help="Take this model, such as openai:gpt-4o-mini.")
]
UrlOption = Annotated[
    str, typer.Option("--url", metavar="URL", help="Address of its server, usually ending in /v1.")
]
KeyOption = Annotated[
    str, typer.Option("--key", metavar="VARIABLE", help="Environment variable with its key.")
]
RemoveOption = Annotated[bool, typer.Option("--remove", help="Go back to what ships.")]
PaperOption = Annotated[
    str, typer.Option("--paper", metavar="NAME", help="Download what a paper's authors published.")
]
WeightsOption = Annotated[
    str, typer.Option("--weights", help="With --paper: a folder, or a copy on the hub.")
]


def setup(
    parts: PartsArgument = None,
    everything: AllOption = False,
    yes: YesOption = False,
    model: ModelOption = "",
    url: UrlOption = "",
    key: KeyOption = "",
    remove: RemoveOption = False,
    paper: PaperOption = "",
    weights: WeightsOption = "",
) -> None:
    """Set up better models, one part at a time: found here, downloaded, or named by you.

    Each is shown with its size and licence, tried with one call, and written to your own settings after a
    yes. `entities` has no model of its own: it switches on the entity graph of recordings, which the chat
    model builds; --all leaves it out, because it costs calls. The environment and a `.env` file in the
    working folder count before your settings.
    """
    from ragweave.app import guide

    if paper:
        set_up_paper(paper, weights, yes)
        return
    if parts and list(parts) == [ENTITIES]:
        _set_up_entities(model or url or key, remove, yes or everything)
        return
    wanted = _parts(parts)
    if model or remove:
        if len(parts or ()) > 1 or (remove and not parts):
            raise InputError("it is not clear which part is meant", f"name one of {', '.join(_WORDS)}")
        _set_up_one(wanted[0], model, url, key, yes)
    elif everything:
        guide.take_all(wanted, yes)
    elif yes:
        raise InputError("--yes needs to know to what", "add --all, or name a model with --model")
    else:
        guide.ask_each(wanted, graph=not parts or ENTITIES in parts)


def _set_up_entities(named: str, remove: bool, yes: bool) -> None:
    """Switch the entity graph on after a yes, or off."""
    from ragweave.app import entity_graph, guide

    if named:
        raise InputError(
            "the entity graph is built by the chat model", "name that with `ragweave setup chat`"
        )
    if remove:
        entity_graph.remove()
    else:
        entity_graph.offer(yes, guide.is_terminal())


def _set_up_one(part: PartName, model: str, url: str, key: str, yes: bool) -> None:
    """Set up a named model for a part; without a name, remove the part's settings."""
    from ragweave.app import guide
    from ragweave.models.offered import named, variables

    if (url or key) and part == "pictures":
        raise InputError("the image encoder runs on this machine", "leave --url and --key out")
    if key and not os.environ.get(key):
        # The user may have typed the key itself, so that the message must not repeat it.
        raise InputError(
            "--key takes the name of an environment variable, and none of that name is set",
            "export the key and name its variable, or leave --key out and run `ragweave setup chat`",
        )
    values = dict.fromkeys(variables(part), "")
    if model:
        values = run(named(part, model, guide.say, url, os.environ.get(key, "")))
    guide.keep(part, values, yes)


def _parts(given: Sequence[str] | None) -> list[PartName]:
    """Return the given parts that have a model, in their usual order; all of them if none is given.

    Raises:
        InputError: one of the names is not a part.
    """
    if not given:
        return list(PARTS)
    for word in given:
        if word not in _WORDS:
            raise InputError(f"there is no part {word!r}", f"use {', '.join(_WORDS)}")
    return [part for part in PARTS if part in given]
