"""Fuzzing: nearly sound files through the reading processes, and nearly sound requests through the server.

python -m ragweave.tests.hard.fuzz files|requests SECONDS [SEED] [FOLDER] draws cases with hypothesis until
the time is over. A file must be read or refused with a sentence, by a process that lives on, within its
limits; a request must be answered below 500, an error as a problem with its remedy. What breaks that is
shrunk, and kept in FOLDER."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.worker import WALL
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import RagweaveError
from ragweave.tests.hard.mutated import files

SECONDS = 20.0
"""For one file of at most a mebibyte."""
BATCH = 200
SHRINK = 60.0
"""Seconds that what was found is shrunk."""
_UNFORESEEN = re.compile(r"It cannot be read \((\w+(?:Error|Exception|Warning|Iteration)): (.*?)\)")


class Found(AssertionError):
    """A case that ended as none may."""


def until(
    ends: float, first: int, cases: SearchStrategy[Any], take: Callable[[Any], None], kept: Path | None
) -> None:
    """Draw cases until the time is over. What is found is shrunk and printed, and raised at the end."""
    number, found = first, []
    while time.monotonic() < ends:
        case, error = _batch(number, ends, cases, take)
        if error is not None:
            if kept and case and isinstance(case[1], bytes):
                (kept / f"found-{number}-{case[0]}").write_bytes(case[1])
            found.append(f"seed {number}: {error}\n{case!r:.600}")
            print(found[-1], flush=True)
        number += 1
    if found:
        raise Found("\n".join(found))


def _batch(
    number: int, ends: float, cases: SearchStrategy[Any], take: Callable[[Any], None]
) -> tuple[Any, Any]:
    last: list[Any] = [None]
    until = [ends]

    @seed(number)
    @settings(
        max_examples=BATCH, deadline=None, database=None, phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck), print_blob=False, report_multiple_bugs=False,
    )  # fmt: skip
    @given(cases)
    def one(case: Any) -> None:
        if time.monotonic() > until[0]:
            return
        try:
            take(case)
        except Found:
            if last == [None]:
                until[0] = time.monotonic() + SHRINK
            last[:] = [case]
            raise

    try:
        one()
    except Found as error:
        return last[0], error
    except BaseException as error:  # out of time while it was shrunk: what was found first counts
        if last == [None]:
            raise
        return last[0], error
    return None, None


def fuzz_files(seconds: float, first: int, kept: Path | None = None) -> Counter[str]:
    """Read changed files in a real reading process."""
    counts: Counter[str] = Counter()
    os.environ["RAGWEAVE_OCR"] = "off"
    limits = CorporaSettings(parse_workers=1, parse_seconds=SECONDS)
    with tempfile.TemporaryDirectory(prefix="fuzzed-") as place:
        readers = Readers(limits)

        def take(case: tuple[str, bytes]) -> None:
            name, data = case
            path = Path(place) / name
            path.write_bytes(data)
            began = time.monotonic()
            try:
                made = readers.read(str(path), "source", 300, None, [place])
            except RagweaveError as error:
                said = str(error)
                if found := _UNFORESEEN.search(said):
                    kind = f"unforeseen: {path.suffix} {found[1]}"
                    if kept and not counts[kind]:
                        (kept / f"{hashlib.sha256(data).hexdigest()[:8]}{path.suffix}").write_bytes(data)
                        print(f"{kind}: {found[2][:300]}", flush=True)
                    counts[kind] += 1
                if "ended the reading process" in said or time.monotonic() - began > WALL * SECONDS + 15:
                    raise Found(f"{name}: {said}") from None
                counts["stopped at a limit"] += "takes longer than" in said or "MiB of memory" in said
                if not error.remedy or "\n" in said:
                    raise Found(f"{name}: no sentence with a remedy: {said!r}") from None
                counts["refused"] += 1
            except Exception as error:
                raise Found(f"{name}: {type(error).__name__}: {error}") from None
            else:
                counts["read"] += 1
                for item in made.items:
                    if item.corpus not in CORPORA or not item.source:
                        raise Found(f"{name}: an item of nothing: {item}")
                    (item.text + item.title).encode()  # what cannot be encoded cannot be stored
            finally:
                path.unlink()
            counts["slower than 3 s"] += time.monotonic() - began > 3

        try:
            until(time.monotonic() + seconds, first, files(), take, kept)
        finally:
            readers.close()
            print(dict(sorted(counts.items())), flush=True)
    return counts


def main() -> int:
    what, seconds = sys.argv[1], float(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    kept = Path(sys.argv[4]) if len(sys.argv) > 4 else None
    if what == "files":
        run = fuzz_files
    else:
        from ragweave.tests.hard.requested import fuzz_requests as run
    try:
        run(seconds, first, kept)
    except Found:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
