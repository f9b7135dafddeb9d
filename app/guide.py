"""The dialogue of `ragweave setup`: offer models for each part, try the chosen one, write the settings."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import typer

from ragweave.app import entity_graph, extras
from ragweave.app.commands.common import EXIT_ERROR, complain, run
from ragweave.app.examined import hold_exam
from ragweave.app.findings import part_of
from ragweave.app.places import clean
from ragweave.app.reencoded import reencode_with_bar
from ragweave.app.render import duration, listed
from ragweave.components.reencoding import apart, english
from ragweave.models.errors import InputError, RagweaveError
from ragweave.models.listing import NoListError, checked, models_at
from ragweave.models.offered import Choice, Values, choices, named, variables
from ragweave.models.offers import PROVIDERS, TABLE, ChatProvider, PartName
from ragweave.models.user_settings import hidden, nearer, write

_LISTED = 30
"""The most models of a server that are listed."""
_FROM_PROVIDERS = ("chat", "vision")
"""Parts whose model may come from a provider, with a key."""
_RESUMES = "The same command continues from there."


def is_terminal() -> bool:
    """Return whether a person can be asked."""
    return sys.stdin.isatty()


def say(text: str) -> None:
    """Print a line without control characters; it may hold text from a server."""
    typer.echo(clean(text))


def _current(part: PartName) -> str:
    """Return which model is set up for a part."""
    return f"{TABLE[part].title.capitalize()}: {run(part_of(part)).what}"


def ask_each(parts: Sequence[PartName], graph: bool = False) -> None:
    """Offer models for each part; ask the user to choose if there is a terminal, else only list them.

    `graph` adds the offer of the entity graph.
    """
    failed = False
    missing: list[str] = []
    for part in parts:
        say(f"\n{_current(part)}\n  A better one {TABLE[part].brings}.")
        offered = run(choices(part))
        _list_choices(part, offered)
        for choice in offered:
            if choice.missing:
                missing.append(choice.missing)
        if not is_terminal():
            continue
        try:
            _ask(part, offered)
        except RagweaveError as error:
            complain(error)
            failed = True
    if graph:
        entity_graph.offer(False, is_terminal())
    if not is_terminal():
        say("\nChoose in a terminal, or take what is recommended: ragweave setup --all --yes")
        if missing:
            raise extras.lacking(missing)
    elif failed:
        raise typer.Exit(EXIT_ERROR)
    else:
        say("\n`ragweave doctor` shows what is set up; `ragweave setup PART` changes it.")


def _list_choices(part: PartName, offered: Sequence[Choice]) -> None:
    """Print the numbered choices of a part, and what each needs to be installed first."""
    for n, choice in enumerate(offered, 1):
        first = f"\n     first: {extras.line([choice.missing])}" if choice.missing else ""
        say(f"  {n}. {choice.text}{first}")
    if part in _FROM_PROVIDERS:
        say(f"  {len(offered) + 1}. a model of a provider, with a key")


def _ask(part: PartName, offered: Sequence[Choice]) -> None:
    """Ask which model a part gets, and set it up."""
    words = "Number, r to go back to what ships, or Enter to leave it"
    answer = typer.prompt(words, default="", show_default=False).strip().lower()
    if not answer:
        return
    if answer == "r":
        keep(part, dict.fromkeys(variables(part), ""), False)
        return
    if part in _FROM_PROVIDERS and answer == str(len(offered) + 1):
        keep(part, _of_provider(part), False)
        return
    choice = _chosen(offered, answer)
    if choice:
        keep(part, _taken(choice), False)


def _chosen(offered: Sequence[Choice], answer: str) -> Choice | None:
    """Return the choice with a number, its packages installed; None if the user declines the download."""
    if not answer.isdigit() or not 1 <= int(answer) <= len(offered):
        raise InputError(f"there is no number {answer}", "run `ragweave setup` again for this part")
    choice = offered[int(answer) - 1]
    if choice.missing:
        _install([choice.missing], False)
    if choice.megabytes and not typer.confirm(f"Download {choice.megabytes:,} MB?"):
        return None
    return choice


def _taken(choice: Choice) -> Values:
    """Download and try a model; return its settings."""
    if not sys.stderr.isatty():
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
    return run(choice.take(say), stopped=_RESUMES)


def _of_provider(part: PartName) -> Values:
    """Ask for provider, model and key, and try them with one call; return their settings."""
    for n, known in enumerate(PROVIDERS, 1):
        say(f"     {n}. {known.title}")
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
    """Return the provider with a number or name; None for the choice of another address."""
    if answer.isdecimal() and 1 <= int(answer) <= len(PROVIDERS):
        return PROVIDERS[int(answer) - 1]
    if answer.isdecimal() and int(answer) == len(PROVIDERS) + 1:
        return None
    for known in PROVIDERS:
        if answer.casefold() in (known.title.casefold(), known.prefix):
            return known
    raise InputError(
        "that is none of the numbers and names of the list",
        f"run the command again, and answer with a number from 1 to {len(PROVIDERS) + 1}",
    )


def _model_at(url: str, key: str) -> str:
    """List the models of a server, ask for a number or a name, and return the name."""
    try:
        names = run(models_at(url, key)).names[:_LISTED]
    except NoListError:
        names = []
    for n, name in enumerate(names, 1):
        say(f"     {n}. {name}")
    words = "Number, or a model as the server calls it" if names else "Model, as the server calls it"
    answer = str(typer.prompt(f"     {words}")).strip()
    # A server may call a model by a number; its name counts before its position in the list.
    if answer.isdecimal() and answer not in names and 1 <= int(answer) <= len(names):
        return names[int(answer) - 1]
    return answer


def _install(wanted: Sequence[str], yes: bool) -> None:
    """Install extras after a yes.

    Raises:
        InputError: pip cannot be run here, or the user declines; the remedy is the line to type.
    """
    wanted = list(dict.fromkeys(wanted))
    line = extras.line(wanted)
    if not extras.can_install():
        raise extras.lacking(wanted)
    if not (yes or typer.confirm(f"Install its packages now ({line})?")):
        raise extras.lacking(wanted)
    say(f"Installing the packages: {line} ...")
    extras.install(wanted)


def _secret(prompt: str) -> str:
    return getpass.getpass(f"{prompt}: ").strip()


def keep(part: PartName, values: Values, yes: bool) -> None:
    """Write the settings of a part after a yes; encode the libraries first if the encoder changes."""
    name = TABLE[part].variable
    if part == "encoder" and not _reencode(values, yes):
        return
    assignments: list[str] = []
    for variable, value in values.items():
        if value:
            assignments.append(f"{variable}={hidden(variable, value)}")
    what = listed(assignments) or f"{name} unset"
    if not (yes or typer.confirm(f"Write to your settings: {what}?", default=True)):
        return
    say(f"Written to {write(values)}: {what}.")
    overridden = nearer(values)
    if overridden:
        say(f"Note: {overridden}, and counts before it.")
    if values[name] and TABLE[part].after:
        say(TABLE[part].after)
    if part == "chat" and values[name]:
        run(hold_exam(say))


def _reencode(values: Values, yes: bool) -> bool:
    """Give the libraries vectors of the new encoder after a yes; return false after a no."""
    waiting = run(apart(values))
    if not waiting:
        return True
    for library, count, seconds in waiting:
        time = duration(seconds)
        say(f"Library {library}: its {count:,} items are to be encoded again, in about {time}.")
    if not (yes or typer.confirm("Now? The encoder is not used before", default=True)):
        return False
    for library, *_ in waiting:
        run(reencode_with_bar(library, values), stopped=_RESUMES)
    return True


def take_all(parts: Sequence[PartName], yes: bool) -> None:
    """Set up the recommended model of each part that has none; a failure does not stop the others."""
    unset: list[PartName] = []
    for part in parts:
        if _is_set(part):
            say(_current(part))
        else:
            unset.append(part)
    plan, problems = _plan(unset, yes)
    megabytes = 0
    for part, choice in plan:
        say(f"{TABLE[part].title.capitalize()}: {choice.text}")
        megabytes += choice.megabytes
    if plan and (yes or typer.confirm(f"Set up {len(plan)} of them, with {megabytes:,} MB to download?")):
        for part, choice in plan:
            try:
                keep(part, _taken(choice), True)
            except RagweaveError as error:
                problems.append(error)
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(EXIT_ERROR)


def _plan(parts: Sequence[PartName], yes: bool) -> tuple[list[tuple[PartName, Choice]], list[RagweaveError]]:
    """Return the recommended choice of each part, and the errors of parts that have none.

    Packages that the choices need are installed first, after a yes.
    """
    problems: list[RagweaveError] = []
    recommended = {part: _recommended(part) for part in parts}
    missing: list[str] = []
    for choice in recommended.values():
        if choice is not None and choice.missing:
            missing.append(choice.missing)
    if missing:
        try:
            _install(missing, yes)
            recommended = {part: _recommended(part) for part in parts}
        except RagweaveError as error:
            problems.append(error)
    plan: list[tuple[PartName, Choice]] = []
    for part, choice in recommended.items():
        if choice is None:
            what = f"the {TABLE[part].title} comes from Ollama, which does not answer here"
            problems.append(InputError(what, f"start Ollama, then: ragweave setup {part} --all"))
        elif not choice.missing:
            plan.append((part, choice))
    return plan, problems


def _recommended(part: PartName) -> Choice | None:
    """Return the recommended choice of a part, or None if there is none.

    A choice that needs no further package comes first. Encoders and rerankers of one language count only if
    the libraries are in English.
    """
    any_language = part not in ("encoder", "reranker") or english()
    first: Choice | None = None
    for choice in run(choices(part)):
        if not any_language and choice.language:
            continue
        if not choice.missing:
            return choice
        first = first or choice
    return first


def _is_set(part: PartName) -> bool:
    """Return whether the setting of a part differs from its default."""
    from ragweave.models.settings import ModelSettings, model_settings

    default: Any = ModelSettings.model_fields[TABLE[part].setting].default
    return bool(getattr(model_settings(), TABLE[part].setting) != default)
