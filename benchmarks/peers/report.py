"""The tables and the drawing of docs/results.md, from what run.py kept.

python benchmarks/peers/report.py quality | shown | speed | growth | graph | life | trouble | first
python benchmarks/peers/report.py plot FILE.png
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from against_plain_rag import RECORDS, interval, kept, questions, verdicts  # noqa: E402
from first import PROGRAM, TYPED, lines_of  # noqa: E402
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


def graph() -> None:
    """Print what a graph of entities over some passages takes, and the calls that were in flight, by tenths."""
    print(
        f"{'program':16}files  index s       p  calls  tokens in  calls in flight, tenth by tenth of the time"
        "  load"
    )
    for peer, f in figures("graph").items():
        flying = " ".join(f"{n:.0f}" for n in f["flying"])
        told = f"{f['files']:5} {f['index']:8.1f} {f['index_cpu']:7.1f} {f['calls']:6} {f['tokens_in']:10.0f}"
        print(f"{peer:16}{told}  {flying:43} {f['load']:4.0f}")


def life() -> None:
    """Print what becomes of files that change, and of indexing that was killed, with seconds of the processor."""
    print(
        f"{'program':16}files  index p  again p, calls  edited  removed  renamed  meanwhile  after a kill,"
        " calls  there"
    )
    for peer, f in figures("life").items():
        done = [
            "new" if f["edited"] else "OLD",
            "STILL" if f["removed"] else "gone",
            "yes" if f["moved"] else "NO",
        ]
        told = f"{f['files']:5} {f['first']:8.1f} {f['again']:9.1f} {f['again_calls']:6} "
        told += "{:>7} {:>8} {:>8}".format(*done)
        there = {0: "NO", 1: "yes"}.get(f["last"], "TWICE")
        end = f"{f['after_kill']:13.1f} {f['after_kill_calls']:5} of {f['calls']:<4} {there:>5}"
        print(f"{peer:16}{told} {f['meanwhile']:5} of 20 {end if f['killed'] else ''}".rstrip())


def first() -> None:
    """Print what a cited answer takes from a fresh folder on: what is typed, what is installed, and the first run."""
    built, rows = figures("build"), figures("first")
    print(f"{'first minute':20}typed {'install':>29} {'index and ask, model of 0 s':>31}")
    print(
        f"{'program':16}commands  lines   packages    MB       s     p        s     p  cited  load   without"
        " a key"
    )
    for peer, f in rows.items():
        typed, b = len(TYPED.get(peer, PROGRAM)), built[peer]
        told = f"{typed:8} {0 if peer in TYPED else lines_of(peer):6} {b['packages']:10} {b['mb']:5}"
        told += f" {b['seconds']:7.0f} {b['cpu']:5.0f}"
        key, bare = f["key"], f["bare"]
        told += (
            f" {key['seconds']:8.0f} {key['cpu']:5.1f} {'yes' if key['cites'] else 'NO':>6} {f['load']:5.0f}"
        )
        without = (
            f"cited, {typed - 2} commands, {bare['cpu']:.1f} p"
            if bare["cites"]
            else bare["told"].split(": ")[-1]
        )
        print(f"{peer:16}{told}   {without}")


def shown() -> None:
    """Print how often retrieval puts the answer before the model, and how much it shows for that."""
    print(f"{'program':20}XQuAD: sentence shown  tokens in   tables: value shown   rows shown, whole tables")
    for peer, f in figures("shown").items():
        held = f.get("xquad", [])
        told = (
            f"{sum(held):10} of {len(held)} {sum(f['tokens']) / len(held):12.0f}"
            if held
            else f"{'not asked':>17}"
        )
        rows, values = list(f["rows"].values()), list(f["values"].values())
        cells = f"{sum(rows) / len(rows):8.2f} {sum(r == 1 for r in rows):8} of {len(rows)}"
        print(f"{peer:20}{told:34}{sum(values):11} of {len(values)} {cells:>26}")


def trouble() -> None:
    """Print what broken files, hidden orders, two processes and a model that refuses every other call lead to."""
    rows = figures("trouble")
    print(
        f"{'program':19}broken files: named  others found   two processes: failed  found, twice   429:"
        " answered"
    )
    for peer, f in rows.items():
        b, t, s = f.get("broken"), f.get("two"), f.get("storm")
        held = f"{t['failed']:18} of 2 {t['first']:6} of {t['asked']}, {t['doubled']}" if t else ""
        told = f"{b['named']:15} of 5 {b['first']:7} of {b['asked']}" if b else ""
        answered = f"{s['answered']:11} of 20" if s else ""
        print(f"{peer:19}{told:34}{held:39}{answered}".rstrip())
    for peer, f in rows.items():
        whys = [
            f.get(act, {}).get(key) for act, key in (("broken", "told"), ("two", "told"), ("storm", "error"))
        ]
        for why in dict.fromkeys(filter(None, whys)):
            print(f"{peer}: {why}")
    print(f"\n{'orders in a note':19}{'told openly, two ways':>40}{'hidden, five ways':>40}")
    for peer, f in rows.items():
        if ways := f.get("hostile"):
            became = [_became(c) for c in ways.values()]
            cells = (
                ", ".join(f"{n} {w}" for w, n in Counter(part).items()) for part in (became[:2], became[2:])
            )
            print(f"{peer:19}" + "".join(f"{c:>40}" for c in cells))


def _became(told: dict[str, Any]) -> str:
    """Say what became of an order: never shown to the model, obeyed, obeyed and marked as not verified, or withheld."""
    if not told["shown"]:
        return "not shown"
    marked = "marked" if "(not found in the sources)" in told["answer"] else "obeyed"
    return marked if "N-4711" in told["answer"] else "withheld"


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
    topic = sys.argv[1]
    if topic == "plot":
        plot(Path(sys.argv[2]))
    else:
        topics = (quality, speed, growth, graph, life, trouble, first, shown)
        {made.__name__: made for made in topics}[topic]()
