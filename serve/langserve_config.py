"""Read and write the configurable of LangServe: the knobs of a request, and entries of the server.

The knobs are the fields of `ragweave.Context`. Their defaults and kinds make the form of the playground.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated, Any

from fastapi import Request
from langchain_core.runnables.utils import ConfigurableFieldSpec
from pydantic import BeforeValidator, TypeAdapter, WithJsonSchema
from pydantic.fields import FieldInfo

from ragweave.components.context import Context
from ragweave.components.run_settings import run_settings
from ragweave.serve import batch, problems
from ragweave.serve.remembered import LONGEST_ID

CALLER = "ragweave_caller"
"""Entry of the configurable with the caller; only the server sets it."""
PLACES = "ragweave_places"
"""Entry of the configurable with the number of answers of a batch that may run at once."""
REQUEST = "ragweave_request"
"""Entry of the configurable with the request, by which a disconnected client is noticed."""
THREAD = "ragweave_thread"
"""Entry of the configurable with the id of the thread that the client named."""
_ALIKE = 0.75
"""Similarity to the name of a knob from which an unknown entry is taken for a typing error.

Other unknown entries belong to the client's own graph or chain.
"""


def form_fields() -> list[ConfigurableFieldSpec]:
    """Return the knobs with their defaults as fields of the playground's form."""
    fields = []
    for name, field in Context.model_fields.items():
        if name != "method":  # a group of settings, which the form cannot draw; presets name them
            fields.append(_form_field(name, field))
    return fields


def _form_field(name: str, field: FieldInfo) -> ConfigurableFieldSpec:
    """Return a knob as a field of a form that has no null: a knob that is not set is an empty text."""
    kind: Any = field.annotation
    if field.default is None:
        kind = Annotated[kind | str, WithJsonSchema({"type": "string"})]
    else:  # LangServe builds its own model of the form; it copies only annotations inside the union
        unset = Annotated[kind | None, BeforeValidator(lambda value: None if value == "" else value)]
        kind = Annotated[unset | None, WithJsonSchema(TypeAdapter(kind).json_schema())]
    return ConfigurableFieldSpec(name, kind, name, field.description, _default_shown(name))


def _default_shown(name: str) -> Any:
    """Return the value that the form shows at first: the default of this server.

    The library is empty, because the reader of the form may not know the names of libraries. An empty name
    means the caller's default library.
    """
    default = Context.model_fields[name].default
    if default is None or name == "library":
        return ""
    return run_settings().defaults.get(name, default)


async def with_caller(config: dict[str, Any], request: Request) -> dict[str, Any]:
    """Add the entries of the server to a config, and remove the defaults that LangServe filled in.

    If a client sets the entries of the server, they are overwritten. A thread that the client names
    continues. Other entries belong to the graph or chain of the client and are ignored.

    Raises:
        InputError: an unknown entry looks like a knob; or a batch is empty or too large.
    """
    body = await request.json() if request.method == "POST" else {}
    inputs = body.get("inputs", [])
    if not isinstance(inputs, list):
        raise problems.invalid(("inputs",), "Input should be a list")
    batch.check(inputs)
    sent = body.get("config")
    for one in sent if isinstance(sent, list) else [sent]:
        _check_names(set_by(one))
    if isinstance(sent, list):  # a batch: this function is called once for each of its configs, in order
        at = getattr(request.state, "configs", 0)
        request.state.configs = at + 1
        sent = sent[at]
    configurable = _knobs(config, sent, form="origin" in request.headers)
    configurable[CALLER] = request.state.caller
    configurable[PLACES] = batch.at_once(sent)
    configurable[REQUEST] = request
    configurable[THREAD] = _thread_of(sent)
    return {**config, "configurable": configurable}


def _check_names(names: Iterable[str]) -> None:
    """Raise the error of an unknown knob for a name that is nearly that of a knob."""
    for name in names:
        if name not in Context.model_fields and get_close_matches(name, Context.model_fields, 1, _ALIKE):
            Context.model_validate({name: None})


def _knobs(config: dict[str, Any], sent: Any, *, form: bool) -> dict[str, Any]:
    """Return the entries of a config that the client has set.

    The playground sends its whole `form`: of that, entries that still have the default are not set.
    """
    names = set_by(sent)
    knobs = {}
    for name, value in set_by(config).items():
        if name not in names or (form and value == _default_shown(name)):
            continue
        knobs[name] = value
    return knobs


def _thread_of(sent: Any) -> str:
    """Return the thread that a client names, or "".

    Raises:
        InputError: its id is not a short text.
    """
    named = set_by(sent).get("thread_id") or ""
    if not isinstance(named, str | int) or len(str(named)) > LONGEST_ID:
        raise problems.invalid(
            ("config", "configurable", "thread_id"), f"must have {LONGEST_ID} characters at most"
        )
    return str(named)


def set_by(config: Any) -> dict[str, Any]:
    """Return the configurable of a config; both may be missing."""
    return (config or {}).get("configurable") or {}
