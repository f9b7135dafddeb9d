"""The dialogue of `ragweave setup`: what is offered for each part, what is chosen, what is written."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import typer

from ragweave.app import extras
from ragweave.app.commands.common import EXIT_ERROR, complain, run
from ragweave.app.examined import sit_aloud
from ragweave.app.findings import part_of
from ragweave.app.places import clean
from ragweave.app.reencoded import reencode_aloud
from ragweave.app.render import duration, listed
from ragweave.components.reencoding import apart, english
from ragweave.models.errors import InputError, RagweaveError
from ragweave.models.listing import NoListError, checked, models_at
from ragweave.models.offered import Choice, Values, choices, named, variables
from ragweave.models.offers import PROVIDERS, TABLE, ChatProvider, PartName
from ragweave.models.user_settings import hidden, nearer, write

_LISTED = 30
"""Models of a server that are listed."""
_GOES_ON = "The same command goes on where this one ended."


def _attended() -> bool:
    return sys.stdin.isatty()


def say(text: str) -> None:
    """Print a line, whatever came with it from elsewhere."""
    typer.echo(clean(text))


def _told(part: PartName) -> str:
    """Say what is set up of a part."""
    return f"{TABLE[part].title.capitalize()}: {run(part_of(part)).what}"


def ask_each(parts: Sequence[PartName]) -> None:
    """Go through the parts with the person who sits here; only list them where nobody does."""
    problems, lacking = 0, list[str]()
    for part in parts:
        say(f"\n{_told(part)}\n  A better one {TABLE[part].brings}.")
        offered = run(choices(part))
        provider = part in ("chat", "vision")
        lacking += [choice.missing for choice in offered if choice.missing]
        for n, choice in enumerate(offered, 1):
            lacks = f"\n     first: {extras.line([choice.missing])}" if choice.missing else ""
            say(f"  {n}. {choice.text}{lacks}")
        if provider:
            say(f"  {len(offered) + 1}. a model of a provider, with a key")
        if not _attended():
            continue
        words = "Number, r to go back to what ships, or Enter to leave it"
        answer = typer.prompt(words, default="", show_default=False).strip().lower()
        try:
            if answer == "r":
                keep(part, dict.fromkeys(variables(part), ""), False)
            elif provider and answer == str(len(offered) + 1):
                keep(part, _of_provider(part), False)
            elif answer and (chosen := _chosen(offered, answer)):
                keep(part, _taken(chosen), False)
        except RagweaveError as error:
            complain(error)
            problems += 1
    if not _attended():
        say("\nChoose in a terminal, or take what is recommended: ragweave setup --all --yes")
        if lacking:
            raise extras.lacking(lacking)
    elif problems:
        raise typer.Exit(EXIT_ERROR)
    else:
        say("\n`ragweave doctor` tells what is set up; `ragweave setup PART` changes it.")


def _chosen(offered: Sequence[Choice], answer: str) -> Choice | None:
    """Return what the number stands for; None where its download is not wanted."""
    if not answer.isdigit() or not 1 <= int(answer) <= len(offered):
        raise InputError(f"there is no number {answer}", "run `ragweave setup` again for this part")
    choice = offered[int(answer) - 1]
    if choice.missing:
        _install([choice.missing], False)
    if choice.megabytes and not typer.confirm(f"Download {choice.megabytes:,} MB?"):
        return None
    return choice


def _taken(choice: Choice) -> Values:
    if not sys.stderr.isatty():
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
    return run(choice.take(say), stopped=_GOES_ON)


def _of_provider(part: PartName) -> Values:
    """Ask for provider, model and key, and try them."""
    for n, listed_one in enumerate(PROVIDERS, 1):
        say(f"     {n}. {listed_one.title}")
    say(f"     {len(PROVIDERS) + 1}. another address that speaks OpenAI's API")
    provider = _provider(str(typer.prompt("     Which", default="1")).strip())
    if provider is None:
        url = checked(typer.prompt("     Address, usually ending in /v1"))
        secret = _secret("     Key (Enter: none)")
        return run(named(part, _model_at(url, secret), say, url, secret))
    if find_spec(provider.package.replace("-", "_")) is None:
        raise InputError(f"{provider.title} needs a package", f"pip install {provider.package}")
    model = typer.prompt("     Model", default=provider.model)
    secret = os.environ.get(provider.key, "")
    if not (secret and typer.confirm(f"     Use the key in {provider.key}?", default=True)):
        secret = _secret("     Key")
    return run(named(part, f"{provider.prefix}:{model}", say, "", secret))


def _provider(answer: str) -> ChatProvider | None:
    """Return the provider of a number or a name; None stands for another address."""
    if answer.isdecimal() and 1 <= int(answer) <= len(PROVIDERS) + 1:
        return [*PROVIDERS, None][int(answer) - 1]
    for known in PROVIDERS:
        if answer.casefold() in (known.title.casefold(), known.prefix):
            return known
    raise InputError(
        "that is none of the numbers and names of the list",
        f"run the command again, and answer with a number from 1 to {len(PROVIDERS) + 1}",
    )


def _model_at(url: str, key: str) -> str:
    """Ask which of the models that a server lists is meant; by its name where it lists none."""
    try:
        names = run(models_at(url, key)).names[:_LISTED]
    except NoListError:
        names = []
    for n, name in enumerate(names, 1):
        say(f"     {n}. {name}")
    asked = (
        "     Number, or a model as the server calls it" if names else "     Model, as the server calls it"
    )
    answer = str(typer.prompt(asked)).strip()
    listed = answer.isdecimal() and answer not in names and 1 <= int(answer) <= len(names)
    return names[int(answer) - 1] if listed else answer


def _install(wanted: Sequence[str], yes: bool) -> None:
    """Install extras after a yes, where pip can be run; else say what to type."""
    wanted = [*dict.fromkeys(wanted)]
    if not (
        extras.can_install() and (yes or typer.confirm(f"Install its packages now ({extras.line(wanted)})?"))
    ):
        raise extras.lacking(wanted)
    say(f"Installing the packages: {extras.line(wanted)} ...")
    extras.install(wanted)


def _secret(prompt: str) -> str:
    return getpass.getpass(f"{prompt}: ").strip()


def keep(part: PartName, values: Values, yes: bool) -> None:
    """Write what was chosen after a yes; an encoder once the libraries have its vectors."""
    name = TABLE[part].variable
    if part == "encoder" and (waiting := run(apart(values))):
        for library, count, seconds in waiting:
            say(
                f"Library {library}: its {count:,} items are to be encoded again, in about"
                f" {duration(seconds)}."
            )
        if not (yes or typer.confirm("Now? The encoder is not used before", default=True)):
            return
        for library, *_ in waiting:
            run(reencode_aloud(library, values), stopped=_GOES_ON)
    shown = [f"{n}={hidden(n, v)}" for n, v in values.items() if v]
    what = listed(shown) or f"{name} unset"
    if not (yes or typer.confirm(f"Write to your settings: {what}?", default=True)):
        return
    say(f"Written to {write(values)}: {what}.")
    if before := nearer(values):
        say(f"Note: {before}, and counts before it.")
    if values[name] and TABLE[part].after:
        say(TABLE[part].after)
    if part == "chat" and values[name]:
        run(sit_aloud(say))


def take_all(parts: Sequence[PartName], yes: bool) -> None:
    """Take the first that can be had for each part that has nothing of its own; go on where one fails."""
    wanted = [part for part in parts if not _is_set(part)]
    for part in parts:
        if part not in wanted:
            say(_told(part))
    plan, problems = _planned(wanted, yes)
    for part, choice in plan:
        say(f"{TABLE[part].title.capitalize()}: {choice.text}")
    total = sum(choice.megabytes for _, choice in plan)
    if plan and (yes or typer.confirm(f"Set up {len(plan)} of them, with {total:,} MB to download?")):
        for part, choice in plan:
            try:
                keep(part, _taken(choice), True)
            except RagweaveError as error:
                problems.append(error)
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(EXIT_ERROR)


def _planned(
    wanted: Sequence[PartName], yes: bool
) -> tuple[list[tuple[PartName, Choice]], list[RagweaveError]]:
    """Return what is taken for each part, its packages installed after a yes, and what keeps the others from it."""
    problems = list[RagweaveError]()
    first = {part: _recommended(part) for part in wanted}
    missing = [choice.missing for choice in first.values() if choice is not None and choice.missing]
    if missing:
        try:
            _install(missing, yes)
            first = {part: _recommended(part) for part in wanted}
        except RagweaveError as error:
            problems.append(error)
    for part, choice in first.items():
        if choice is None:
            told = f"the {TABLE[part].title} comes from Ollama, which does not answer here"
            problems.append(InputError(told, f"start Ollama, then: ragweave setup {part} --all"))
    return [(part, c) for part, c in first.items() if c is not None and not c.missing], problems


def _recommended(part: PartName) -> Choice | None:
    """Return what is recommended for a part: what needs no further package first; None where nothing can be had."""
    reads = part not in ("encoder", "reranker") or english()
    offered = [choice for choice in run(choices(part)) if reads or not choice.language]
    return next((c for c in offered if not c.missing), offered[0] if offered else None)


def _is_set(part: PartName) -> bool:
    from ragweave.models.settings import ModelSettings, model_settings

    default: Any = ModelSettings.model_fields[TABLE[part].setting].default
    return bool(getattr(model_settings(), TABLE[part].setting) != default)
