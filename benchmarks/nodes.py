"""What a page and a passage cost, and the nodes of a Ray cluster that follow from it.

    python benchmarks/nodes.py [--within 168] [--cpus 16] [--film 1116] [--index 0.0044] [--json OUT]

A page of forty lines is drawn and read by OCR; passages of about 120 words are read, embedded and committed. Seconds
are those of the processor, so that other programs change little. What an hour of film takes is printed by `video.py
speed`, and what a vector takes in the making of an index by `shards.py`; both are given. A further node counts .8.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from index import write_files
from printed import options, own_home, tell
from ray_workers import draw

PAGES, PASSAGES, EACH = 3, 1_000, 25
FILMS, BOOKS, TEXTS = 10_000, 10_000_000, 100_000_000
"""Hours of film, scanned pages, and passages, of which the nodes are counted."""


def read(files: Sequence[Path], sources: Sequence[str] = ()) -> tuple[list[Any], float]:
    """Return what one reading process makes of files, and the processor seconds that it took, its start included."""
    from ragweave.corpora.ingest.readers import Readers
    from ragweave.corpora.settings import CorporaSettings
    from ragweave.models.embed import encoder

    before, held = _children(), Readers(CorporaSettings(parse_workers=1))
    named = zip(files, sources or ["0" * 24] * len(files), strict=True)
    made = [held.read(str(file), source, encoder().max_words) for file, source in named]
    held.close()
    return made, _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def passages(folder: Path) -> dict[str, float]:
    """Return processor seconds of a passage by stage, and its bytes."""
    from ragweave.corpora.ingest.pipeline import COMMIT_CHUNKS
    from ragweave.corpora.store.commit import Committer, FileOutcome
    from ragweave.corpora.store.files import identify
    from ragweave.corpora.store.prepared import chunked, params_hash
    from ragweave.corpora.store.stores import stores
    from ragweave.models.embed import encoder

    write_files(folder, PASSAGES, EACH)
    files, text_encoder, params = sorted(folder.iterdir()), encoder(), params_hash()
    known = [identify(str(file), params, 512) for file in files]
    first = read(files[:1])[1]
    prepared, reading = read(files, [file.source for file in known])
    texts = [chunked(made.items, made.chunks).texts for made in prepared]
    text_encoder.texts(["warm"])
    began = time.process_time()
    vectors = [text_encoder.texts(some) for some in texts]
    embedded = time.process_time()
    held = stores()
    committer = Committer(held.catalog, held.catalog.create("nodes", text_encoder.name, text_encoder.dim), params)
    outcomes = [FileOutcome(*parts) for parts in zip(known, prepared, vectors, strict=True)]
    for at in range(0, len(outcomes), COMMIT_CHUNKS // EACH):
        committer.store(outcomes[at : at + COMMIT_CHUNKS // EACH])
    stages = {"read": reading - first, "embed": embedded - began, "commit": time.process_time() - embedded}
    return {
        **{f"a passage: {stage} ms": 1000 * value / PASSAGES for stage, value in stages.items()},
        "a passage: bytes": sum(f.stat().st_size for f in files) / PASSAGES,
    }


def main() -> None:
    """Measure, and print the table."""
    parser = options(__doc__)
    parser.add_argument("--within", type=float, default=168.0, help="hours that it may take")
    parser.add_argument("--cpus", type=int, default=16, help="CPUs of a node")
    parser.add_argument("--film", type=float, default=1116.0, help="processor seconds of an hour of film")
    parser.add_argument("--index", type=float, default=0.0044, help="processor seconds of a vector of an index")
    given = parser.parse_args()
    with own_home() as folder:
        (folder / "pages").mkdir()
        (folder / "notes").mkdir()
        drawn = draw(folder / "pages", PAGES + 1, 40)
        page = (read(drawn)[1] - read(drawn[:1])[1]) / PAGES
        figures = {"a page by OCR s": page, **passages(folder / "notes")}
    text = sum(figures[f"a passage: {stage} ms"] for stage in ("read", "embed")) / 1000
    for what, count, each in (("hours of film", FILMS, given.film), ("pages", BOOKS, page), ("passages", TEXTS, text)):
        figures[f"{count:,} {what}: CPU hours"] = count * each / 3600
        nodes = math.ceil(count * each / (0.8 * 3600 * given.within * given.cpus))
        figures[f"{count:,} {what}: nodes"] = nodes
    for what, each in (("commit", figures["a passage: commit ms"] / 1000), ("index", given.index)):
        figures[f"{TEXTS:,} passages: {what}, CPU hours"] = TEXTS * each / 3600
        figures[f"{TEXTS:,} passages: {what}, libraries side by side"] = math.ceil(TEXTS * each / (3600 * given.within))
    tell(figures, given.json)


if __name__ == "__main__":
    main()
