"""Writing a trained checkpoint: into a folder beside the wanted one, put in place in one step, with a model card."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ragweave.models.checkpoint_files import SHEET, Sheet
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.evals.train_reasoner import Tuning
    from ragweave.evals.train_text import Recipe


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """Give an empty folder beside `out` that is gone afterwards, whatever happens.

    Raises:
        InputError: if `out` holds anything but an earlier checkpoint of Ragweave's, or cannot be written beside.
    """
    if out.exists() and not (out / SHEET).is_file() and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(f"{out} is there already and is not a checkpoint of Ragweave's", "give a new folder")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as exc:
        raise InputError(f"{out} cannot be written ({exc.strerror})", "give another folder") from exc
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(
    folder: Path,
    out: Path,
    sheet: Sheet,
    recipe: Recipe | Tuning,
    base: str,
    data: Path,
    licence: str,
    figures: Mapping[str, float],
) -> None:
    """Write sheet and card into the staged folder and put it in the place of `out`.

    An earlier checkpoint at `out` is replaced.
    """
    card = {
        "base": base,
        "data": {
            "file": data.name,
            "sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
            "licence": licence or "not stated",
        },
        "recipe": dataclasses.asdict(recipe),
        "figures": {name: round(value, 4) for name, value in figures.items()},
        "versions": {name: version(name) for name in ("ragweave", "torch", "transformers")},
        "trained": datetime.now(UTC).date().isoformat(),
    }
    (folder / SHEET).write_text(json.dumps({**sheet.model_dump(), "card": card}, indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(_readme(sheet, card), encoding="utf-8")
    if out.exists():
        # Renaming onto a folder that holds files is refused, so the old one steps aside first.
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as aside:
            old = out.rename(Path(aside) / "old")
            try:
                folder.rename(out)
            except OSError:
                old.rename(out)
                raise
    else:
        folder.rename(out)


def _readme(sheet: Sheet, card: Mapping[str, object]) -> str:
    kind = f"A {sheet.task} for Ragweave"
    lines = [f"# {str(sheet.task).capitalize()}", "", f"{kind}, trained from {card['base']} with `ragweave train`.", ""]
    for title in ("data", "figures", "recipe", "versions"):
        rows = card[title]
        assert isinstance(rows, dict)
        lines += [f"## {title.capitalize()}", "", "| | |", "|---|---|"]
        lines += [f"| {name} | {value} |" for name, value in rows.items()] + [""]
    lines += [
        "The losses are per token of the assistant in the held-out conversations."
        if sheet.task == "reasoner"
        else "The figures are of the held-out rows that also chose the epoch"
        + (" and the temperature" if sheet.task == "router" else "")
        + ": measure on other data with `ragweave eval`.",
        "",
    ]
    return "\n".join(lines)
