"""What every benchmark does with its figures: print them, a line each, and write them where `--json` names a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def tell(figures: Mapping[str, Any], to: Path | None) -> None:
    """Print `figures`, and write them to `to` where it is given."""
    for name, value in figures.items():
        print(f"{name:>32}  {value:,.2f}" if isinstance(value, float) else f"{name:>32}  {value}")
    if to:
        to.write_text(json.dumps(figures, indent=1), encoding="utf-8")
