"""Writes docs/configuration.md from the settings and the context, so that it cannot fall behind them.

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
from typing import Any, get_args, get_origin

from pydantic import AliasChoices, BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

_INTRO = """# Configuration

`make docs` writes every table of this page from the code. Ragweave reads variables from the environment and from a
`.env` file in the working folder or of your own settings, which `ragweave setup` writes; the first of them wins. Keys
and addresses belong there, never into the knobs of a run. With `_FILE` behind its name, a variable of the environment
holds the path of a file with the value. A command names the `RAGWEAVE_` variables that it does not know.
"""


def page() -> str:
    """Return the whole page as Markdown."""
    from ragweave.components.context import Context
    from ragweave.components.method import PRESETS, Method
    from ragweave.components.run_settings import RunSettings
    from ragweave.corpora.settings import CorporaSettings
    from ragweave.models.settings import ModelSettings
    from ragweave.serve.settings import ServeSettings

    parts = [_INTRO]
    rooms: tuple[tuple[str, str, type[BaseModel]], ...] = (
        (
            "Command line",
            (
                "Defaults of the commands and of `ragweave serve`; Python and LangGraph Studio have those of "
                "[one run](#one-run)."
            ),
            RunSettings,
        ),
        (
            "Models",
            (
                "Without `RAGWEAVE_CHAT` Ragweave works in extractive mode. A row with `_URL` and `_KEY`"
                " stands for three variables, as `RAGWEAVE_JUDGE`, `RAGWEAVE_JUDGE_URL` and"
                " `RAGWEAVE_JUDGE_KEY`. What a role does not set comes from the writer, whose key goes to its"
                " own server only."
            ),
            ModelSettings,
        ),
        (
            "Libraries, files and the web",
            (
                "Where data is kept, the limits under which files are read, and the web search that a run may"
                " use."
            ),
            CorporaSettings,
        ),
        ("Server", "Settings of `ragweave serve`.", ServeSettings),
    )
    for title, intro, model in rooms:
        parts += [f"## {title}\n\n{intro}\n", _table(model, "variable", environment=True)]
    parts += [
        (
            "## One run\n\nFields of `ragweave.Context`: `ragweave ask --set KEY=VALUE`, `ragweave.ask(...,"
            " context=Context(...))`, or the form in Studio.\n"
        ),
        _table(Context, "knob", environment=False),
        (
            "## Methods and presets\n\nWhat papers fixed and measured. `--preset NAME` sets them together,"
            " `--set method.KEY=VALUE` one by one, and `Context(method={...})` from Python.\n"
        ),
        _table(Method, "setting", environment=False),
        _presets(PRESETS),
    ]
    return "\n".join(parts)


def _presets(presets: Iterable[str]) -> str:
    from ragweave.components.method import knobs_of

    rows: list[str] = []
    whole: dict[str, dict[str, object]] = {}
    for name in presets:
        flat = knobs_of(name)
        base = next((n for n in whole if name.startswith(f"{n}-")), "")
        whole[name] = flat
        own = {k: v for k, v in flat.items() if not base or whole[base].get(k) != v}
        parts = [f"as `{base}`"] * bool(base) + [f"`{k}={v}`" for k, v in own.items()]
        rows.append(f"- `{name}`: {', '.join(parts)}")
    return "\n".join(rows) + "\n"


def _table(model: type[BaseModel], head: str, *, environment: bool) -> str:
    told = attribute_docstrings(model)
    prefix = str(model.model_config.get("env_prefix", "")) if environment else ""
    rows = [f"| {head} | values | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        meaning = field.description or told.get(name, "")
        if not meaning and name.endswith(("_url", "_key")):
            continue
        shown = _names(name, field, prefix)
        own = [f"`_{part}`" for part in ("URL", "KEY") if f"{name}_{part.lower()}" in model.model_fields]
        if environment and own and not model.model_fields[f"{name}_url"].description:
            shown = ", ".join([shown, *own])
        cells = (shown, _values(field), _default(field), meaning)
        rows.append("| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |")
    return "\n".join(rows) + "\n"


def _names(name: str, field: FieldInfo, prefix: str) -> str:
    if not prefix:
        return f"`{name}`"
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias or prefix + name.upper()]
    return ", ".join(f"`{choice}`" for choice in choices)


def _values(field: FieldInfo) -> str:
    bounds = {type(m).__name__.lower(): m for m in field.metadata}
    limits = []
    for key, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")):
        if key in bounds:
            limits.append(f"{sign} {getattr(bounds[key], key):,}")
    return ", ".join([_type(field.annotation), *limits])


def _type(annotation: Any) -> str:
    choices = get_args(annotation)
    if get_origin(annotation) is tuple:
        return "list of " + _type(choices[0])
    if choices and all(isinstance(c, str) for c in choices):
        return ", ".join(f"`{c}`" for c in choices)
    kept = [c for c in choices if c is not type(None)] or [annotation]
    names = {str: "text", int: "whole number", float: "number", bool: "`true`, `false`", Path: "folder"}
    names[SecretStr] = "secret"
    return names.get(kept[0], str(getattr(kept[0], "__name__", kept[0])))


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
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def attribute_docstrings(model: type) -> dict[str, str]:
    """Return the string under each field of a class."""
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
    """Write a page to the file named first, or print it."""
    if argv:
        Path(argv[0]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def main(argv: list[str]) -> None:
    """Write the page to the file named first, or print it."""
    put(page(), argv)


if __name__ == "__main__":
    main(sys.argv[1:])
