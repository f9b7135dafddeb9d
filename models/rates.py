"""Parse the prices of models."""

from __future__ import annotations

import json


def read_rates(rates: str) -> dict[str, tuple[float, float]]:
    """Return the prices per million input and output tokens, by model name.

    Raises:
        ValueError: if the text is no such JSON, or a price is negative.
    """
    try:
        table: dict[str, tuple[float, float]] = {}
        for name, (paid_in, paid_out) in json.loads(rates or "{}").items():
            table[str(name)] = (float(paid_in), float(paid_out))
    except (ValueError, TypeError, AttributeError) as exc:
        raise ValueError('must be JSON such as {"gpt-4o-mini": [0.15, 0.60]}') from exc
    for prices in table.values():
        if min(prices) < 0:
            raise ValueError("prices must not be negative")
    return table
