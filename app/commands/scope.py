"""Options that narrow a question to recordings, folders and times, or to given answers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Video = Annotated[
    list[str] | None,
    typer.Option("--video", metavar="NAME", help="Only this recording: file name, title or id; may be repeated."),
]
Folder = Annotated[str | None, typer.Option("--in", metavar="FOLDER", help="Only what lies in this folder.")]
From = Annotated[str | None, typer.Option("--from", metavar="TIME", help="Only from here on, as 12:30 or seconds.")]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only up to here, as 15:00 or seconds.")]
Choice = Annotated[
    list[str] | None, typer.Option("--choice", metavar="TEXT", help="An answer to choose from; may be repeated.")
]


def scope(video: list[str] | None, folder: str | None, from_: str | None, to: str | None) -> dict[str, Any]:
    """Return the context's fields for the options that narrow a question; those not given are left out.

    Raises:
        InputError: a time cannot be read.
    """
    times = {"from_time": from_ and at_seconds(from_), "to_time": to and at_seconds(to)}
    given = {"videos": video or None, "collection": folder, **times}
    return {key: value for key, value in given.items() if value is not None}


def at_seconds(time: str) -> float:
    """Read a time as a player shows it, 1:02:03 or 12:30, or a number of seconds.

    Raises:
        InputError: it is neither.
    """
    from ragweave.models.errors import InputError

    try:
        parts = [float(part) for part in time.split(":")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 3 or any(part < 0 for part in parts):
        raise InputError(f"“{time}” is not a time", "write 12:30, 1:02:03 or a number of seconds")
    return float(sum(part * 60.0**n for n, part in enumerate(reversed(parts))))
