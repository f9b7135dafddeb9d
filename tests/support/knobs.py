"""The knobs of a run in one list: what belongs to the method goes there."""

from __future__ import annotations

from typing import Any

from ragweave.components.context import Context
from ragweave.components.method import Method


def context(**given: Any) -> Context:
    """Return a context from knobs and settings of the method alike."""
    method = {name: given.pop(name) for name in [*given] if name in Method.model_fields}
    return Context(**given, method=Method(**method))
