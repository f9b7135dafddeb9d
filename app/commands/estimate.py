"""`ragweave index --estimate`: what a run would take, before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ragweave.app.commands.common import console, print_json


def show(paths: Sequence[Path], library: str, *, as_json: bool) -> None:
    """Print what indexing these paths would take."""
    from ragweave.app.render import clean, counted, duration, short_path, size
    from ragweave.corpora.ingest.estimate import estimate
    from ragweave.graphs.indexing import captioner

    found = estimate(paths, library, captioner())
    if as_json:
        print_json({**asdict(found), "hours": found.hours})
        return
    out = console()
    out.print(f"{counted(found.texts, 'file')} of {size(found.text_bytes)} to read, {found.unchanged} unchanged.")
    if found.recordings:
        out.print(f"{counted(len(found.recordings), 'recording')} of {duration(found.hours * 3600)} in all:")
        for r in found.recordings:
            words = {"": "nobody listens", "subtitles": "its subtitles are used"}.get(r.speech, f"heard by {r.speech}")
            seen = "looked at" if r.picture else "no picture"
            out.print(f"  {short_path(r.path)}: {duration(r.seconds)}, {seen}, {words}", soft_wrap=True)
    for path, why in found.unreadable:
        out.print(f"  {short_path(path)}: {clean(why)}", style="red", soft_wrap=True)
    out.print(f"About {duration(found.seconds)} on two cores, and at most {size(found.bytes)} to store.")
    if found.model:
        price = "its rate is not set (RAGWEAVE_RATES)" if found.cost is None else f"{found.cost:.2f} at your rates"
        of = f" (at most {counted(found.pictures, 'picture')})" if found.pictures else ""
        out.print(f"Captions by {found.model}: {found.calls:,} calls{of}, about {found.tokens:,} tokens, {price}.")
