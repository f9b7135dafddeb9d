"""Default settings of a run, and the context that KEY=VALUE pairs set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from ragweave.models.errors import InputError
from ragweave.models.settings import Settings, read_settings

if TYPE_CHECKING:
    from ragweave.components.context import Context


class RunSettings(Settings):
    """Defaults of the commands and of the server, for what a request does not set."""

    library: str = Field("default", min_length=1, max_length=200, description="Library that is asked.")
    knobs: str = Field(
        "",
        description=(
            "Knobs of [one run](#one-run) where a request does not set them, as `web=ask effort=high`; "
            "`graph=NAME` names the graph."
        ),
    )

    @property
    def graph(self) -> str:
        """The graph that answers if a request names none."""
        return str(values_of(self.knobs.split()).get("graph", "agent"))

    @property
    def defaults(self) -> dict[str, Any]:
        """Default knobs of a run."""
        values = values_of(self.knobs.split())
        values.pop("graph", None)
        return values


@lru_cache(maxsize=1)
def run_settings() -> RunSettings:
    """Return the settings of this process, read once.

    Raises:
        InputError: the value of a variable cannot be used; the message names the variable.
    """
    settings = read_settings(RunSettings)
    if settings.knobs:
        from ragweave.components.context import Context

        try:
            Context.model_validate(settings.defaults)
        except InputError as error:
            raise InputError(f"RAGWEAVE_KNOBS cannot be used: {error.what}", error.remedy) from None
    return settings


def values_of(pairs: Sequence[str], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return given knobs, overridden by those that `KEY=VALUE` pairs set.

    Raises:
        InputError: a pair is not of that form.
    """
    from ragweave.components.context import Context
    from ragweave.components.method import Method

    values = dict(given or {})
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"`{pair}` is not of the form KEY=VALUE", "write, say, max_hops=1")
        name = key.removeprefix("method.")
        if name == key:
            values[name] = _value(Context, name, value)
        else:
            values.setdefault("method", {})[name] = _value(Method, name, value)
    return values


def _value(model: type[BaseModel], name: str, value: str) -> str | list[str]:
    """Return the value of a field: a list of its parts between commas if the field holds several."""
    field = model.model_fields.get(name)
    if field is None or "tuple" not in str(field.annotation):
        return value
    return [part for part in value.split(",") if part]


def with_settings(given: Mapping[str, Any], settings: list[str] | None = None, **options: Any) -> Context:
    """Return a context from values; `KEY=VALUE` pairs override them, and options that are not None both."""
    from ragweave.components.context import Context

    values = values_of(settings or [], given)
    for name, value in options.items():
        if value is not None:
            values[name] = value
    return Context.model_validate(values)
