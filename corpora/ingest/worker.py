"""The reading process: reads one file after the other under limits, and answers in JSON.

Run as `python -m ragweave.corpora.ingest.worker MEMORY_MB SCRATCH`. A request is one line of JSON on standard
input, or a list of several, whose replies come together; a reply is eight bytes of length and that much JSON
on what was standard output; before it a length of zero says that the words in pictures are being read, which
takes longer. The process never touches the stores, so what a hostile file does to it costs the run that file
and nothing else. When the run is killed, it ends as well, and takes the folder SCRATCH for temporary files
with it.

Limits are seconds of the processor, of all its threads, so that a machine which is busy elsewhere refuses no
file; what hangs without using the processor ends after WALL times as many seconds by the clock.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ragweave.corpora.ingest.limits import limit
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store.prepared import VERSION
from ragweave.models.errors import RagweaveError

LENGTH = struct.Struct(">Q")

WALL = 5
"""Seconds by the clock for each of the processor."""
_TOGETHER = 2**18
"""Bytes of replies that may wait for those of other files of one request."""
_LOOK = 0.5
"""Seconds between two looks for the parent."""


def answer(
    request: dict[str, Any], memory_mb: int, tell: Callable[[], None] = lambda: None
) -> tuple[bytes, bool]:
    """Return the reply to one request, and whether this process may read another file."""
    if request["version"] != VERSION:
        # An upgrade exchanged the files between the start of the run and that of this process.
        return json.dumps({"version": VERSION, "ends": True}).encode(), False
    try:
        made = _prepared(request, tell)
    except Exception as error:  # the next file is still to be read, whatever a parser raises
        what, remedy = _reason(error, memory_mb)
        healthy = not isinstance(error, MemoryError)
        return json.dumps({"what": what, "remedy": remedy, "ends": not healthy}).encode(), healthy
    return b'{"ok":' + made + b"}", True


def _prepared(request: dict[str, Any], tell: Callable[[], None]) -> bytes:
    """Return what `prepare` makes of the file of a request, as JSON."""
    media = Path(request["media"]) if request["media"] else None
    made = prepare(
        Path(request["path"]),
        request["source"],
        request["max_words"],
        media,
        request["roots"],
        request["loader"],
        request["later"],
        request["ocr_seconds"],
        tell,
    )
    return made.to_json()


def _reason(error: Exception, memory_mb: int) -> tuple[str, str]:
    """Return why a file could not be read, in one line, and the remedy."""
    if isinstance(error, RagweaveError):
        what, remedy = error.what, error.remedy
    elif isinstance(error, MemoryError):
        what = f"Reading it takes more than {memory_mb} MiB of memory"
        remedy = "raise RAGWEAVE_PARSE_MEMORY_MB"
    elif isinstance(error, RecursionError):
        what, remedy = "It is nested too deeply to be read", "flatten it"
    elif isinstance(error, OSError):
        what, remedy = f"It cannot be read ({error.strerror or error})", "check the file and its permissions"
    else:  # a parser met a file that it was not made for
        what = f"It cannot be read ({type(error).__name__}: {error})"[:500]
        remedy = "check that the file is sound"
    # The words of a parser may be several lines.
    return " ".join(what.split()), remedy


def end_with(parent: int, scratch: str) -> None:
    """Wait until the parent is gone, then remove the temporary files and end this process."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)


def _reads_pictures(out: BinaryIO, request: dict[str, Any]) -> None:
    """Send the parent a length of zero: the longer limit begins, or a picture was read."""
    if "pictures" not in request:
        request["pictures"] = True
        _within(request["ocr_seconds"] + request["seconds"])
    out.write(LENGTH.pack(0))
    out.flush()


def _within(seconds: float) -> None:
    """End this process if it uses more processor time from now on, or hangs; 0 lifts both limits."""
    if hasattr(signal, "setitimer"):
        # The default action ends the process from the kernel, also inside a regular expression or a C
        # library, and also when the parent, who looks at the clock, is gone.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, WALL * seconds + 5 if seconds else 0)


def main() -> None:
    """Serve requests until standard input ends."""
    memory_mb, scratch = int(sys.argv[1]), sys.argv[2]
    threading.Thread(target=end_with, args=(os.getppid(), scratch), daemon=True).start()
    # Replies get a descriptor of their own: whatever a library prints goes to standard error.
    out: BinaryIO = os.fdopen(os.dup(1), "wb", _TOGETHER)
    os.dup2(2, 1)
    limit(memory_mb)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        for request in asked if isinstance(asked, list) else [asked]:
            _within(request["seconds"])
            reply, healthy = answer(request, memory_mb, partial(_reads_pictures, out, request))
            _within(0)
            out.write(LENGTH.pack(len(reply)))
            out.write(reply)
            if not healthy:
                break
        out.flush()
        if not healthy:
            return
    shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
