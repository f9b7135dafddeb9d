"""Write docs/configuration.md from the settings and the context, so that the page is never out of date.

Run `python -m ragweave.docs.write_configuration FILE`; without a file it prints the page.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import AliasChoices, BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

_INTRO = """# Configuration

`make docs` writes every table of this page from the code. Ragweave reads variables from the environment, from
a `.env` file in the working folder, and from your own settings, which `ragweave setup` writes; the first of
them wins. Keys and addresses belong there, never into the knobs of a run. With `_FILE` behind its name, a
variable of the environment holds the path of a file with the value. A command names the `RAGWEAVE_` variables
that it does not know.
"""


_COMMAND_LINE = (
    "Defaults of the commands and of `ragweave serve`; Python and LangGraph Studio have those of "
    "[one run](#one-run)."
)
_MODELS = (
    "Without `RAGWEAVE_CHAT` Ragweave works in extractive mode. A row with `_URL` and `_KEY`"
    " names three variables, as `RAGWEAVE_JUDGE`, `RAGWEAVE_JUDGE_URL` and `RAGWEAVE_JUDGE_KEY`. What a role"
    " does not set comes from the writer, whose key goes to its own server only."
)
_LIBRARIES = (
    "Where data is kept, the limits under which files are read, and the web search that a run may use."
)
_ONE_RUN = (
    "## One run\n\nFields of `ragweave.Context`: `ragweave ask --set KEY=VALUE`, `ragweave.ask(...,"
    " context=Context(...))`, or the form in Studio.\n"
)
_METHODS = (
    "## Methods and presets\n\nWhat papers fixed and measured. `--preset NAME` sets them together,"
    " `--set method.KEY=VALUE` one by one, and `Context(method={...})` from Python.\n"
)


_TYPES: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true`, `false`",
    Path: "folder",
    SecretStr: "secret",
}
"""What a reader calls the types of settings."""


def page() -> str:
    """Return the whole page as Markdown."""
    from ragweave.components.context import Context
    from ragweave.components.method import PRESETS, Method
    from ragweave.components.run_settings import RunSettings
    from ragweave.corpora.settings import CorporaSettings
    from ragweave.models.settings import ModelSettings
    from ragweave.serve.settings import ServeSettings

    sections: tuple[tuple[str, str, type[BaseModel]], ...] = (
        ("Command line", _COMMAND_LINE, RunSettings),
        ("Models", _MODELS, ModelSettings),
        ("Libraries, files and the web", _LIBRARIES, CorporaSettings),
        ("Server", "Settings of `ragweave serve`.", ServeSettings),
    )
    parts = [_INTRO]
    for title, intro, model in sections:
        parts.append(f"## {title}\n\n{intro}\n")
        parts.append(_table(model, "variable", environment=True))
    parts += [_ONE_RUN, _table(Context, "knob", environment=False)]
    parts += [_METHODS, _table(Method, "setting", environment=False), _presets(PRESETS)]
    return "\n".join(parts)


def _presets(presets: Iterable[str]) -> str:
    """Return a list of the presets; a variant of another preset lists only its differences."""
    from ragweave.components.method import knobs_of

    rows: list[str] = []
    knobs: dict[str, dict[str, object]] = {}
    for name in presets:
        knobs[name] = knobs_of(name)
        base = _base_preset(name, knobs)
        inherited: dict[str, object] = knobs[base] if base else {}
        parts = [f"as `{base}`"] if base else []
        for key, value in knobs[name].items():
            if not base or inherited.get(key) != value:
                parts.append(f"`{key}={value}`")
        rows.append(f"- `{name}`: {', '.join(parts)}")
    return "\n".join(rows) + "\n"


def _base_preset(name: str, presets: Iterable[str]) -> str:
    """Return the first preset of which this one is a variant, or an empty string."""
    for other in presets:
        if name.startswith(f"{other}-"):
            return other
    return ""


def _table(model: type[BaseModel], head: str, *, environment: bool) -> str:
    """Return a table of the fields of a model; with `environment`, by the names of their variables."""
    docstrings = attribute_docstrings(model)
    prefix = str(model.model_config.get("env_prefix", "")) if environment else ""
    rows = [f"| {head} | values | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        meaning = field.description or docstrings.get(name, "")
        if not meaning and name.endswith(("_url", "_key")):
            continue
        names = _names(name, field, prefix)
        if environment:
            names += _address_and_key(name, model)
        rows.append(_row(names, _values(field), _default(field), meaning))
    return "\n".join(rows) + "\n"


def _row(*texts: str) -> str:
    cells = [" ".join(text.split()).replace("|", "\\|") for text in texts]
    return f"| {' | '.join(cells)} |"


def _address_and_key(name: str, model: type[BaseModel]) -> str:
    """Return the endings of the variables for a model's address and key, if they have no row of their own."""
    address = model.model_fields.get(f"{name}_url")
    names = ""
    if address is not None and not address.description:
        names += ", `_URL`"
        if f"{name}_key" in model.model_fields:
            names += ", `_KEY`"
    return names


def _names(name: str, field: FieldInfo, prefix: str) -> str:
    if not prefix:
        return f"`{name}`"
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias or prefix + name.upper()]
    return ", ".join([f"`{choice}`" for choice in choices])


def _values(field: FieldInfo) -> str:
    """Return the type of a field and its bounds."""
    bounds = {type(bound).__name__.lower(): bound for bound in field.metadata}
    limits = []
    for key, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")):
        if key in bounds:
            limits.append(f"{sign} {getattr(bounds[key], key):,}")
    return ", ".join([_type(field.annotation), *limits])


def _type(annotation: Any) -> str:
    choices = get_args(annotation)
    origin = get_origin(annotation)
    if origin is tuple:
        return "list of " + _type(choices[0])
    if origin is Literal:
        return ", ".join([f"`{choice}`" for choice in choices])
    # The first type of `X | None` is X.
    kind = choices[0] if choices else annotation
    return _TYPES.get(kind, str(getattr(kind, "__name__", kind)))


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "the platform's data folder"
    value = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ("", ()):
        return "empty"
    if isinstance(value, BaseModel):
        return "see below"
    if isinstance(value, bool):
        value = str(value).lower()
    return f"`{value}`"


def attribute_docstrings(model: type) -> dict[str, str]:
    """Return the docstring of each field of a class: the string below it."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    found: dict[str, str] = {}
    if isinstance(body, ast.ClassDef):
        for field, text in pairwise(body.body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                found[field.target.id] = inspect.cleandoc(str(text.value.value))
    return found


def put(text: str, argv: list[str]) -> None:
    """Write a page to the file that the first argument names, or print it."""
    if argv:
        Path(argv[0]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def main(argv: list[str]) -> None:
    """Write the page to the file that the first argument names, or print it."""
    put(page(), argv)


if __name__ == "__main__":
    main(sys.argv[1:])
