"""The process that cuts and joins: `python -m ragweave.corpora.video.film_worker JOB`, where ffmpeg is the guard.

It prints a dot now and then, and at last, on a line of its own, the seconds of what it wrote. When the
program that started it is gone it ends as well, and removes what it was writing.
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
"""Seconds of a card."""
_INK, _PAPER, _FINE = (240, 238, 232), (31, 41, 51), (170, 182, 190)
_COLUMNS = 4


def card(lines: Sequence[str], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw lines of text in the middle of a picture of (width, height), the first one large, none wider than it."""
    width, height = size
    image = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(image)
    sizes = [height // (12 if n == 0 else 22) for n in range(len(lines))]
    top = (height - sum(1.6 * points for points in sizes)) / 2
    for n, (text, points) in enumerate(zip(lines, sizes, strict=True)):
        font = ImageFont.load_default(points)
        while draw.textlength(text, font=font) > 0.9 * width and len(text) > 1:
            text = f"{text.rstrip('…')[:-1]}…"
        draw.text((width / 2, top + 0.8 * points), text, _INK if n == 0 else _FINE, font, anchor="mm")
        top += 1.6 * points
    return np.asarray(image)


def sheet(pictures: Sequence[NDArray[np.uint8]], labels: Sequence[str]) -> Image.Image:
    """Lay pictures of one size side by side, each with its label below it."""
    height, width, _ = pictures[0].shape
    columns, band = min(_COLUMNS, len(pictures)), max(16, height // 8)
    out = Image.new("RGB", (columns * width, -(-len(pictures) // columns) * (height + band)), _PAPER)
    for n, (pixels, label) in enumerate(zip(pictures, labels, strict=True)):
        left, top = n % columns * width, n // columns * (height + band)
        out.paste(Image.fromarray(pixels), (left, top))
        spot = (left + width / 2, top + height + band / 2)
        ImageDraw.Draw(out).text(spot, label, _INK, ImageFont.load_default(0.7 * band), anchor="mm")
    return out


def make(job: Mapping[str, Any]) -> float:
    """Do what a job says; returns the seconds of what was written."""
    import moviepy
    from proglog import ProgressBarLogger

    class Dots(ProgressBarLogger):  # type: ignore[misc]
        def bars_callback(self, *told: object) -> None:
            with suppress(BrokenPipeError):  # whoever started this is gone: `end_with` clears up
                sys.stdout.write(".")
                sys.stdout.flush()

    recordings, to = job["recordings"], job["to"]
    opened = {
        path: moviepy.AudioFileClip(path) if facts["picture"] is None else moviepy.VideoFileClip(path)
        for path, facts in recordings.items()
    }
    if job["what"] == "sheet":
        seen = [(opened[m["path"]].get_frame(m["start"]), *m["card"]) for m in job["moments"]]
        sheet(*zip(*seen, strict=True)).save(to)
        return 0.0
    pieces: list[Any] = []
    for m in job["moments"]:
        facts, piece = recordings[m["path"]], opened[m["path"]].subclipped(m["start"], m["end"])
        if m["card"]:
            title = moviepy.ImageClip(card(m["card"], tuple(facts["size"])))
            pieces.append(title.with_duration(CARD))
            if facts["picture"] is None:
                piece = title.with_duration(piece.duration).with_audio(piece)
        pieces.append(piece)
    film = pieces[0] if len(pieces) == 1 else moviepy.concatenate_videoclips(pieces, method="chain")
    if film.__class__.__name__ == "AudioFileClip":
        film.write_audiofile(to, codec="aac", ffmpeg_params=["-f", "mp4"], logger=Dots())
    else:
        coded = ["-crf", "23", "-movflags", "+faststart", "-f", "mp4"]
        film.write_videofile(
            to,
            fps=recordings[job["moments"][0]["path"]]["rate"],
            codec="libx264",
            preset="veryfast",
            audio_codec="aac",
            temp_audiofile=job["sound"],
            ffmpeg_params=coded,
            logger=Dots(),
        )
    return float(film.duration)


def end_with(parent: int, part: Path, folder: Path) -> None:
    """Wait until the parent is gone, then remove what is being written and end everything that writes it."""
    while os.getppid() == parent:
        time.sleep(0.5)
    part.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def main(path: str) -> None:
    """Do the job in a file, and say how long what was made lasts."""
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    threading.Thread(
        target=end_with, args=(os.getppid(), Path(job["to"]), Path(path).parent), daemon=True
    ).start()
    sys.modules["dotenv"] = None  # type: ignore[assignment]  # moviepy would read the settings of whoever started it
    seconds = make(job)
    sys.stdout.write(f"\n{json.dumps({'seconds': seconds})}")


if __name__ == "__main__":
    main(sys.argv[1])
