"""The tables and the drawing of docs/compared.md, from what run.py kept.

python benchmarks/peers/report.py quality | speed | busy | growth | life | trouble
python benchmarks/peers/report.py plot FILE.png
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from against_plain_rag import interval, questions, read, verdicts  # noqa: E402
from run import LATENCY, PEERS, SLOW, WIDTHS  # noqa: E402

KEPT = HERE / "records"
ARMS = {"ragweave": "agent", "ragweave's retriever, one call": "plain"}
"""Answers that benchmarks/against_plain_rag.py kept, of the same questions and the same day."""


def arms() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the answers of each program by question."""
    paths = {name: HERE.parent / "records" / "arms" / f"{arm}.jsonl" for name, arm in ARMS.items()}
    paths |= {p: KEPT / "arms" / f"{p}.jsonl" for p in PEERS[1:]}
    return {name: {r["id"]: r for r in read(path)} for name, path in paths.items() if path.exists()}


def counts(rows: dict[str, dict[str, Any]], asked: list[dict[str, Any]]) -> tuple[list[int], dict[str, str]]:
    """Return how many are right, wrong and declined of those asked, and the verdict on each."""
    judged = verdicts(rows)
    of = {q["id"]: judged[q["id"]] for q in asked if q["id"] in judged}
    return [sum(v == verdict for v in of.values()) for verdict in ("right", "wrong", "abstained")], of


def quality() -> None:
    """Print right, wrong and declined by program and set, its calls and tokens, and the paired difference."""
    asked = questions(2)
    told = arms()
    _, ours = counts(told["ragweave"], asked)
    head = f"{'':32} {'library: right wrong declined':>30} {'two and more hops':>20}   calls  tokens in"
    print(f"{head}   right, less ragweave")
    for name, rows in told.items():
        cells = []
        for kind in ("house", "hops"):
            of = [q for q in asked if q["set"] == kind and q["id"] in rows]
            cells.append("{:4} {:4} {:4}".format(*counts(rows, of)[0]) if of else "   not asked  ")
        _, mine = counts(rows, asked)
        calls, tokens = (sum(rows[i].get(k, 0) for i in mine) / len(mine) for k in ("calls", "tokens_in"))
        gains = [(v == "right") - (ours[i] == "right") for i, v in mine.items() if i in ours]
        less = "" if name == "ragweave" else f"   {interval(gains)}"
        print(f"{name:32} {cells[0]:>30} {cells[1]:>20} {calls:7.2f} {tokens:10.0f}{less}")


def figures(topic: str) -> dict[str, dict[str, Any]]:
    """Return what was kept of a topic by program."""
    paths = {p: KEPT / f"{topic.format(p)}.json" for p in PEERS}
    return {p: json.loads(path.read_text(encoding="utf-8")) for p, path in paths.items() if path.exists()}


def speed(kept: str = "speed-{}") -> None:
    """Print seconds beside a model of fixed latency, and how much more that is than Ragweave takes."""
    rows = figures(kept)
    later = f"  all, of {SLOW:g} s  processor" if "slow" in rows["ragweave"] else ""  # older records lack both
    print(
        f"model of {LATENCY} s   index s  calls   one by one     four at once   twenty at once{later}  calls  tokens in"
    )
    for peer, f in rows.items():
        cells = [f"{f[str(w)]['median']:7.2f} s {ratio(f, rows, str(w), 'median')}" for w in WIDTHS]
        told = f"{f['index']['seconds']:9.1f} {f['index']['calls']:6} " + " ".join(f"{c:>15}" for c in cells)
        if later:
            slow = f"{f['slow']['all']:7.2f} s {ratio(f, rows, 'slow', 'all')}"
            told += f" {slow:>15} {1000 * f['1']['cpu']:7.0f} ms"
        print(f"{peer:16}{told} {f['1']['calls']:6.2f} {f['1']['tokens_in']:10.0f}")


def busy() -> None:
    """Print the same of a run beside other work: the seconds say little, those of the processor more."""
    speed("busy-{}")


def ratio(mine: dict[str, Any], rows: dict[str, dict[str, Any]], *keys: str) -> str:
    """Return a figure as a multiple of Ragweave's."""
    ours: Any = rows["ragweave"]
    value: Any = mine
    for key in keys:
        value, ours = value[key], ours[key]
    return f"x{value / ours:.2f}"


def growth() -> None:
    """Print what passages by the thousand cost."""
    for count in (1_000, 10_000):
        rows = figures(f"growth-{{}}-{count}")
        print(f"{count:,} passages      index s          MB  disk MB   search ms")
        for peer, f in rows.items():
            told = f"{f['index']:9.1f} {ratio(f, rows, 'index'):>6} {f['mb']:8} {f['disk']:8}"
            print(f"{peer:16} {told} {1000 * f['find']:9.0f} {ratio(f, rows, 'find'):>6}")


def life() -> None:
    """Print what becomes of an edited file, a removed one, and indexing that was killed."""
    print("1,000 files      index s  again s  the new text first  the removed one found  after a kill s  found once")
    for peer, f in figures("life-{}").items():
        yes = {True: "yes", False: "no"}
        told = f"{f['first']:7.1f} {f['again']:8.1f} {yes[f['edited']]:>19} {yes[f['removed']]:>22}"
        print(f"{peer:16} {told} {f['after_kill']:15.1f} {yes[f['last'] == 1]:>11}")


def trouble() -> None:
    """Print what broken files, hidden orders, two processes and a model that refuses every other call lead to."""
    rows = figures("trouble-{}")
    print(f"{'':16}broken files: named  others found   two processes: failed  found, twice   429: answered")
    for peer, f in rows.items():
        b, t, s = f["broken"], f.get("two"), f["storm"]
        held = f"{t['failed']:18} of 2 {t['first']:6} of {t['asked']}, {t['doubled']}" if t else f"{'not tried':>37}"
        told = f"{b['named']:15} of 5 {b['first']:7} of {b['asked']}"
        print(f"{peer:16}{told} {held} {s['answered']:11} of 20")
    for peer, f in rows.items():
        for why in filter(None, (f["broken"]["told"], f.get("two", {}).get("told"), f["storm"]["error"])):
            print(f"{peer}: {why}")
    print(f"\n{'orders in a note, shown to the model':40}" + "".join(f"{p:>15}" for p in rows))
    for way in next(iter(rows.values()))["hostile"]:
        cells = (f["hostile"][way] for f in rows.values())
        print(f"{way:40}" + "".join(f"{_became(c):>15}" for c in cells))


def _became(told: dict[str, Any]) -> str:
    """Say what became of an order: never shown to the model, obeyed, obeyed and marked as not verified, or withheld."""
    if not told["shown"]:
        return "not shown"
    marked = "marked" if "(unverified)" in told["answer"] else "obeyed"
    return marked if "N-4711" in told["answer"] else "withheld"


def plot(to: Path) -> None:
    """Draw right, wrong and declined by program."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    asked, told = questions(2), arms()
    told = {name: rows for name, rows in told.items() if all(q["id"] in rows for q in asked)}
    shares = [counts(rows, asked)[0] for rows in told.values()]
    figure, axes = plt.subplots(figsize=(8, 0.6 * len(told) + 1))
    left = [0] * len(told)
    for n, (label, colour) in enumerate((("right", "#2a7f62"), ("wrong", "#b8433a"), ("declined", "#c9c5bb"))):
        values = [s[n] for s in shares]
        axes.barh(list(told), values, left=left, color=colour, label=label)
        left = [a + b for a, b in zip(left, values, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(f"of {len(asked)} questions")
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(to, dpi=120)


if __name__ == "__main__":
    topic = sys.argv[1]
    if topic == "plot":
        plot(Path(sys.argv[2]))
    else:
        topics = (quality, speed, busy, growth, life, trouble)
        {made.__name__: made for made in topics}[topic]()
