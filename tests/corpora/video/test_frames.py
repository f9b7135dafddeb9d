"""The pass over a picture: a run that goes on sees what an undisturbed one does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora.video.ffmpeg import binary
from ragweave.corpora.video.frames import frames


@pytest.mark.parametrize(("rate", "every"), [("10", 1.406), ("30000/1001", 1.406), ("7", 0.5)])
def test_what_is_shown_from_a_moment_on_is_what_the_whole_shows_there(tmp_path: Path, rate: str, every: float) -> None:
    film = tmp_path / "film.mp4"
    picture = f"testsrc=size=160x120:rate={rate}:duration=12"
    subprocess.run(
        [binary(), "-v", "error", "-f", "lavfi", "-i", picture, "-pix_fmt", "yuv420p", str(film)], check=True
    )
    whole = list(frames(str(film), "mov", 0, every))
    for first in (1, 5, len(whole) - 1):
        rest = list(frames(str(film), "mov", 0, every, first))
        assert [at for at, _ in rest] == [at for at, _ in whole[first:]]
        assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(rest, whole[first:], strict=True))
