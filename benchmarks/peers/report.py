"""The tables and the drawing of docs/results.md, from what run.py kept.

python benchmarks/peers/report.py quality | speed | growth
python benchmarks/peers/report.py plot FILE.png
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from compared import interval, verdicts  # noqa: E402
from question_sets import RECORDS, kept, questions  # noqa: E402
from run import LATENCY, PEERS, SLOW, WIDTHS, measured  # noqa: E402

KEPT = HERE / "records"
CPU = ("index_cpu", "again_cpu", "find_cpu")
ARMS = {"ragweave": "agent", "ragweave's retriever, one call": "plain"}
"""Answers that benchmarks/against_plain_rag.py kept, of the same questions and the same day."""


def arms() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the answers of each program by question."""
    ours, theirs = kept(RECORDS / "arms.jsonl"), kept(KEPT / "arms.jsonl")
    found = {name: ours[arm] for name, arm in ARMS.items()}
    return found | {peer: theirs[peer] for peer in PEERS[1:] if peer in theirs}


def counts(rows: dict[str, dict[str, Any]], asked: list[dict[str, Any]]) -> tuple[list[int], dict[str, str]]:
    """Return how many are right, wrong and declined of those asked, and the verdict on each."""
    judged = verdicts(rows)
    of = {q["id"]: judged[q["id"]] for q in asked if q["id"] in judged}
    return [sum(v == verdict for v in of.values()) for verdict in ("right", "wrong", "abstained")], of


def quality() -> None:
    """Print right, wrong and declined by program and set, its calls and tokens, and the paired difference.

    First the programs that were asked all questions, or all of a library; then every one, of those that all
    were asked.
    """
    told = arms()
    _, ours = counts(told["ragweave"], questions(2))
    for each in (2, 1):
        asked = questions(each)
        head = f"{len(asked)} questions"
        print(
            f"{head:32} {'library: right wrong declined':>30} {'two and more hops':>20}   calls  tokens  "
            " less ragweave"
        )
        for name, rows in told.items():
            if len(rows) < len([q for q in asked if q["set"] == "house"]):
                continue
            cells = []
            for kind in ("house", "hops"):
                of = [q for q in asked if q["set"] == kind and q["id"] in rows]
                cells.append("{:4} {:4} {:4}".format(*counts(rows, of)[0]) if of else "   not asked  ")
            _, mine = counts(rows, asked)
            calls, tokens = (sum(rows[i].get(k, 0) for i in mine) / len(mine) for k in ("calls", "tokens_in"))
            gains = [(v == "right") - (ours[i] == "right") for i, v in mine.items()]
            less = "" if name == "ragweave" else f"   {interval(gains)}"
            print(f"{name:32} {cells[0]:>30} {cells[1]:>20} {calls:7.2f} {tokens:7.0f}{less}")


def figures(topic: str, of: str = "{}") -> dict[str, dict[str, Any]]:
    """Return what was kept of a topic by program."""
    found = measured(KEPT, topic)
    return {peer: found[of.format(peer)] for peer in PEERS if of.format(peer) in found}


def speed() -> None:
    """Print seconds beside a model of fixed latency, as a multiple of Ragweave's, and those of the processor.

    The vectors of the others are made outside of them, those of Ragweave within: the column has both.
    """
    rows = figures("speed")
    print(
        f"model of {LATENCY} s     index s  calls   one by one     four at once   twenty at once"
        f"  all, of {SLOW:g} s  processor  calls  tokens in  failed"
    )
    for peer, f in rows.items():
        cells = [f"{f[str(w)]['median']:7.2f} s {ratio(f, rows, str(w), 'median')}" for w in WIDTHS]
        told = f"{f['index']['seconds']:9.1f} {f['index']['calls']:6} " + " ".join(f"{c:>15}" for c in cells)
        spent = 1000 * (f["1"]["cpu"] + f["1"]["encoding"])
        told += f" {f['slow']['all']:7.2f} s {ratio(f, rows, 'slow', 'all')} {spent:7.0f} ms"
        failed = sum(f[k]["failed"] for k in (*map(str, WIDTHS), "slow"))
        print(f"{peer:18}{told} {f['1']['calls']:6.2f} {f['1']['tokens_in']:10.0f} {failed:5} of 80")


def ratio(mine: dict[str, Any], rows: dict[str, dict[str, Any]], *keys: str) -> str:
    """Return a figure as a multiple of Ragweave's."""
    ours: Any = rows["ragweave"]
    value: Any = mine
    for key in keys:
        value, ours = value[key], ours[key]
    return f"x{value / ours:.2f}"


COLUMNS = (
    ("index", 9, 1),
    ("index_cpu", 8, 1),
    ("again", 9, 1),
    ("again_cpu", 8, 1),
    ("mb", 7, 0),
    ("disk", 7, 0),
)
COLUMNS += (("open_cpu", 8, 1), ("find_mb", 7, 0), ("find", 10, 0), ("find_cpu", 6, 0))


def growth() -> None:
    """Print what passages by the thousand cost, in seconds and in the processor's (p), the vectors' with them.

    `load` is the mean number of processes that wanted a core in the five minutes before each.
    """
    for count in sorted({int(name.rpartition("-")[2]) for name in measured(KEPT, "growth")}):
        told = f"{count:,} passages"
        print(
            f"{told:17} index s       p  again s       p     MB   disk  open p     MB  search ms    p"
            "     x ours: index again search  load"
        )
        rows = figures("growth", f"{{}}-{count}")
        ours = rows["ragweave"] if rows["ragweave"]["ended"] else {}
        for peer, f in rows.items():
            shown = f | {k: 1000 * f[k] for k in ("find", "find_cpu") if k in f}
            cells = (f"{shown[k]:{wide}.{digits}f}" if k in f else " " * wide for k, wide, digits in COLUMNS)
            whole = {k: f"x{f[k] / ours[k]:.2f}" if k in f and k in ours else "" for k in CPU}
            told = (
                f"{''.join(cells)}  {whole[CPU[0]]:>17} {whole[CPU[1]]:>5} {whole[CPU[2]]:>6}"
                f" {f['load']:5.0f}"
            )
            print(
                f"{peer:16}{told}"
                if f["ended"]
                else (
                    f"{peer:16}ended by the limit after {f['index']:.0f} s, "
                    f"{f['index_cpu']:.0f} of the processor; load {f['load']:.0f}"
                )
            )


def plot(to: Path) -> None:
    """Draw right, wrong and declined by program, and the processor's milliseconds of a question."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    asked, told = questions(1), arms()
    spent = {p: f for p, f in figures("speed").items() if f["1"]["calls"] >= 1}
    figure, (axes, costs) = plt.subplots(1, 2, figsize=(11, 0.45 * len(told) + 1), width_ratios=(3, 2))
    left = [0] * len(told)
    shares = [counts(rows, asked)[0] for rows in told.values()]
    shares = [[*s, len(asked) - sum(s)] for s in shares]
    labels = ("right", "wrong", "declined", "not asked, or broke off")
    for n, (label, colour) in enumerate(
        zip(labels, ("#2a7f62", "#b8433a", "#c9c5bb", "#ffffff"), strict=True)
    ):
        values = [s[n] for s in shares]
        axes.barh(list(told), values, left=left, color=colour, label=label, edgecolor="#c9c5bb")
        left = [a + b for a, b in zip(left, values, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(f"of {len(asked)} questions")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.09), ncols=4, frameon=False, fontsize=8)
    costs.barh(
        list(spent), [1000 * (f["1"]["cpu"] + f["1"]["encoding"]) for f in spent.values()], color="#5b6b8c"
    )
    costs.invert_yaxis()
    costs.set_xlabel("milliseconds of the processor a question")
    figure.tight_layout()
    figure.savefig(to, dpi=120)


if __name__ == "__main__":
    topics = {made.__name__: made for made in (quality, speed, growth)}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("topic", choices=(*topics, "plot"))
    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("compared.png"), help="where the plot goes"
    )
    given = parser.parse_args()
    if given.topic == "plot":
        plot(given.file)
    else:
        topics[given.topic]()
