"""The dialogue of `ragweave setup`: what is offered for each part, what is chosen, what is written."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import typer

from ragweave.app.commands.common import EXIT_ERROR, complain, run
from ragweave.app.examined import sit_aloud
from ragweave.app.findings import part_of
from ragweave.app.offered import Choice, Values, choices, named, variables
from ragweave.app.places import clean
from ragweave.app.reencoded import apart, english, reencode
from ragweave.app.render import duration, listed
from ragweave.app.user_settings import nearer, write
from ragweave.models.errors import InputError, RagweaveError
from ragweave.models.offers import PROVIDERS, TABLE, PartName

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
    problems = 0
    for part in parts:
        say(f"\n{_told(part)}\n  A better one {TABLE[part].brings}.")
        offered = run(choices(part))
        provider = part in ("chat", "vision")
        for n, choice in enumerate(offered, 1):
            lacks = f"\n     first, in the checkout: pip install '.[{choice.missing}]'" if choice.missing else ""
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
        raise InputError("its packages are missing", f"in the checkout: pip install '.[{choice.missing}]'")
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
    for n, provider in enumerate(PROVIDERS, 1):
        say(f"     {n}. {provider.title}")
    say(f"     {len(PROVIDERS) + 1}. another address that speaks OpenAI's API")
    at = typer.prompt("     Which", default=1, type=int)
    if not 1 <= at <= len(PROVIDERS) + 1:
        raise InputError(f"there is no number {at}", "run `ragweave setup` again for this part")
    if at > len(PROVIDERS):
        url = typer.prompt("     Address, usually ending in /v1")
        model = typer.prompt("     Model, as the server calls it")
        return run(named(part, model, say, url, _secret("     Key (Enter: none)")))
    provider = PROVIDERS[at - 1]
    if find_spec(provider.package.replace("-", "_")) is None:
        raise InputError(f"{provider.title} needs a package", f"pip install {provider.package}")
    model = typer.prompt("     Model", default=provider.model)
    secret = os.environ.get(provider.key, "")
    if not (secret and typer.confirm(f"     Use the key in {provider.key}?", default=True)):
        secret = _secret("     Key")
    return run(named(part, f"{provider.prefix}:{model}", say, "", secret))


def _secret(prompt: str) -> str:
    return getpass.getpass(f"{prompt}: ").strip()


def keep(part: PartName, values: Values, yes: bool) -> None:
    """Write what was chosen after a yes; an encoder once the libraries have its vectors."""
    name = TABLE[part].variable
    if part == "encoder" and (waiting := run(apart(values[name] or "wordllama"))):
        for library, count, seconds in waiting:
            say(f"Library {library}: its {count:,} items are to be encoded again, in about {duration(seconds)}.")
        if not (yes or typer.confirm("Now? The encoder is not used before", default=True)):
            return
        for library, *_ in waiting:
            run(reencode(library, values[name] or "wordllama"), stopped=_GOES_ON)
    shown = [f"{n}={'…' if n.endswith('_KEY') else v}" for n, v in values.items() if v]
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
    plan: list[tuple[PartName, Choice]] = []
    for part in parts:
        if _is_set(part):
            say(_told(part))
            continue
        offered = [c for c in run(choices(part)) if part not in ("encoder", "reranker") or english() or not c.language]
        ready = [choice for choice in offered if not choice.missing]
        if ready:
            plan.append((part, ready[0]))
            say(f"{TABLE[part].title.capitalize()}: {ready[0].text}")
        else:
            extras = dict.fromkeys(choice.missing for choice in offered)
            names = " or ".join(f"'.[{extra}]'" for extra in extras)
            how = f"in the checkout: pip install {names}" if extras else "start Ollama"
            say(f"{TABLE[part].title.capitalize()}: nothing can be had yet; {how}")
    total = sum(choice.megabytes for _, choice in plan)
    if not plan or not (yes or typer.confirm(f"Set up {len(plan)} of them, with {total:,} MB to download?")):
        return
    failed = 0
    for part, choice in plan:
        try:
            keep(part, _taken(choice), True)
        except RagweaveError as error:
            complain(error)
            failed += 1
    if failed:
        raise typer.Exit(EXIT_ERROR)


def _is_set(part: PartName) -> bool:
    from ragweave.models.settings import ModelSettings, model_settings

    default: Any = ModelSettings.model_fields[TABLE[part].setting].default
    return bool(getattr(model_settings(), TABLE[part].setting) != default)
