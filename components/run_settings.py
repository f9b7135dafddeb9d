"""What a run falls back on where nobody says, and the context that KEY=VALUE pairs make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ragweave.models.errors import InputError
from ragweave.models.settings import Settings, read_settings

if TYPE_CHECKING:
    from ragweave.components.context import Context


class RunSettings(Settings):
    """What the commands and the server use where a request does not say."""

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
        """Graph that answers where a request names none."""
        return str(values_of(self.knobs.split()).get("graph", "agent"))

    @property
    def defaults(self) -> dict[str, Any]:
        """Knobs of a run where a request does not set them."""
        values = values_of(self.knobs.split())
        values.pop("graph", None)
        return values


@lru_cache(maxsize=1)
def run_settings() -> RunSettings:
    """Return the settings of this process, read once.

    Raises:
        InputError: a variable holds a value that cannot be used; names the variable.
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
    """Return the knobs that `KEY=VALUE` pairs set, over those that are given.

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
        of_method = key.startswith("method.")
        model, into = (Method, values.setdefault("method", {})) if of_method else (Context, values)
        name = key.removeprefix("method.")
        field = model.model_fields.get(name)
        many = field is not None and "tuple" in str(field.annotation)
        into[name] = [v for v in value.split(",") if v] if many else value
    return values


def with_settings(given: Mapping[str, Any], settings: list[str] | None = None, **options: Any) -> Context:
    """Build a context from values, with `KEY=VALUE` pairs over them, and options over both; None is not given."""
    from ragweave.components.context import Context

    values = values_of(settings or [], given)
    values.update({k: v for k, v in options.items() if v is not None})
    return Context.model_validate(values)
