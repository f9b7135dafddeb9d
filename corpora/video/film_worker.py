"""Cut and join recordings in a process: `python -m ragweave.corpora.video.film_worker JOB`.

It uses the guard as ffmpeg. It prints dots as it works and, on the last line, the seconds of what it wrote.
If the program that started it ends, it ends as well and removes its unfinished files.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

CARD = 2.0
"""Seconds of a title card."""
_INK, _PAPER, _FINE = (240, 238, 232), (31, 41, 51), (170, 182, 190)
"""Colours of a card: its first line, its background, its other lines."""
_COLUMNS = 4
"""Pictures in a row of a contact sheet."""
_LINE_HEIGHT = 1.6
"""Height of a line, in sizes of its font."""
_WIDEST = 0.9
"""Share of the width of a card that a line may take."""


def card(lines: Sequence[str], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw lines of text in the middle of a picture, the first one larger; long lines are shortened.

    Args:
        lines: texts from top to bottom.
        size: width and height in pixels.

    Returns:
        Pixels of shape (height, width, 3).
    """
    width, height = size
    image = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(image)
    first, other = height // 12, height // 22
    sizes = [first, *[other] * (len(lines) - 1)]
    top = (height - _LINE_HEIGHT * sum(sizes)) / 2
    for n, (text, points) in enumerate(zip(lines, sizes, strict=True)):
        font = ImageFont.load_default(points)
        while draw.textlength(text, font=font) > _WIDEST * width and len(text) > 1:
            text = f"{text.rstrip('…')[:-1]}…"
        middle = (width / 2, top + _LINE_HEIGHT / 2 * points)
        draw.text(middle, text, _INK if n == 0 else _FINE, font, anchor="mm")
        top += _LINE_HEIGHT * points
    return np.asarray(image)


def sheet(pictures: Sequence[NDArray[np.uint8]], labels: Sequence[str]) -> Image.Image:
    """Arrange pictures of one size in rows, each with its label below it."""
    height, width, _ = pictures[0].shape
    columns = min(_COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    band = max(16, height // 8)
    out = Image.new("RGB", (columns * width, rows * (height + band)), _PAPER)
    for n, (pixels, label) in enumerate(zip(pictures, labels, strict=True)):
        left, top = n % columns * width, n // columns * (height + band)
        out.paste(Image.fromarray(pixels), (left, top))
        middle = (left + width / 2, top + height + band / 2)
        ImageDraw.Draw(out).text(middle, label, _INK, ImageFont.load_default(0.7 * band), anchor="mm")
    return out


def make(job: Mapping[str, Any]) -> float:
    """Carry out a job and return the seconds of what was written."""
    import moviepy

    opened: dict[str, Any] = {}
    for path, facts in job["recordings"].items():
        kind = moviepy.AudioFileClip if facts["picture"] is None else moviepy.VideoFileClip
        opened[path] = kind(path)
    if job["what"] == "sheet":
        _write_sheet(job, opened)
        return 0.0
    pieces: list[Any] = []
    for moment in job["moments"]:
        piece = opened[moment["path"]].subclipped(moment["start"], moment["end"])
        pieces += _with_card(piece, moment["card"], job["recordings"][moment["path"]])
    film = pieces[0] if len(pieces) == 1 else moviepy.concatenate_videoclips(pieces, method="chain")
    _write_film(job, film)
    return float(film.duration)


def _write_sheet(job: Mapping[str, Any], opened: Mapping[str, Any]) -> None:
    """Write a contact sheet of the moments of a job."""
    pictures = []
    labels = []
    for moment in job["moments"]:
        pictures.append(opened[moment["path"]].get_frame(moment["start"]))
        [label] = moment["card"]
        labels.append(label)
    sheet(pictures, labels).save(job["to"])


def _with_card(piece: Any, lines: Sequence[str], facts: Mapping[str, Any]) -> list[Any]:
    """Return a piece of a recording after its title card; sound without a picture plays with the card."""
    import moviepy

    if not lines:
        return [piece]
    title = moviepy.ImageClip(card(lines, tuple(facts["size"])))
    if facts["picture"] is None:
        piece = title.with_duration(piece.duration).with_audio(piece)
    return [title.with_duration(CARD), piece]


def _write_film(job: Mapping[str, Any], film: Any) -> None:
    """Write a film as MP4, or its sound alone if it has no picture; print a dot at each step."""
    from proglog import ProgressBarLogger

    class Dots(ProgressBarLogger):  # type: ignore[misc]
        def bars_callback(self, *values: object) -> None:
            with suppress(BrokenPipeError):  # The parent has ended: `end_with` cleans up.
                sys.stdout.write(".")
                sys.stdout.flush()

    if film.__class__.__name__ == "AudioFileClip":
        film.write_audiofile(job["to"], codec="aac", ffmpeg_params=["-f", "mp4"], logger=Dots())
        return
    first = job["recordings"][job["moments"][0]["path"]]
    film.write_videofile(
        job["to"],
        fps=first["rate"],
        codec="libx264",
        preset="veryfast",
        audio_codec="aac",
        temp_audiofile=job["sound"],
        ffmpeg_params=["-crf", "23", "-movflags", "+faststart", "-f", "mp4"],
        logger=Dots(),
    )


def end_with(parent: int, part: Path, folder: Path) -> None:
    """Wait until the parent ends, then remove the unfinished file and end all processes of the job."""
    while os.getppid() == parent:
        time.sleep(0.5)
    part.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def main(path: str) -> None:
    """Carry out the job in a file and print the seconds of what was written."""
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    threading.Thread(
        target=end_with, args=(os.getppid(), Path(job["to"]), Path(path).parent), daemon=True
    ).start()
    # moviepy would read the parent's .env file.
    sys.modules["dotenv"] = None  # type: ignore[assignment]
    seconds = make(job)
    sys.stdout.write(f"\n{json.dumps({'seconds': seconds})}")


if __name__ == "__main__":
    main(sys.argv[1])
