"""What a run falls back on where nobody says, and the context that KEY=VALUE pairs make."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ragweave.models.errors import InputError
from ragweave.models.settings import Settings, read_settings

if TYPE_CHECKING:
    from ragweave.components.context import Context


class RunSettings(Settings):
    """What the commands and the server use where a request does not say."""

    library: str = Field("default", min_length=1, max_length=200, description="Library that is asked.")
    mode: Literal["auto", "extractive", "llm"] = Field(
        "auto",
        description=(
            "extractive quotes the closest passages, llm has the chat model write, "
            "auto is llm where one is configured."
        ),
    )
    web: Literal["off", "ask", "auto"] = Field(
        "off", description="Web search: never, after consent, or when needed."
    )
    graph: str = Field(
        "agent", description="Graph that answers: one of the names that `ragweave graph` lists."
    )


@lru_cache(maxsize=1)
def run_settings() -> RunSettings:
    """Return the settings of this process, read once; an InputError names a variable that cannot be used."""
    return read_settings(RunSettings)


def with_settings(given: Mapping[str, Any], settings: list[str] | None = None, **options: Any) -> Context:
    """Build a context from values, with `KEY=VALUE` pairs over them, and options over both; None is not given."""
    from ragweave.components.context import Context
    from ragweave.components.method import Method

    values = dict(given)
    for pair in settings or []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"`--set {pair}` is not of the form KEY=VALUE", "write, say, --set max_hops=1")
        of_method = key.startswith("method.")
        model, into = (Method, values.setdefault("method", {})) if of_method else (Context, values)
        name = key.removeprefix("method.")
        field = model.model_fields.get(name)
        many = field is not None and "tuple" in str(field.annotation)
        into[name] = [v for v in value.split(",") if v] if many else value
    values.update({k: v for k, v in options.items() if v is not None})
    return Context.model_validate(values)
