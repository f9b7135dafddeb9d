"""Auto-RAG in small: whether rounds follow difficulty, and how many documents suit a turn or a plain search.

There are eight chains of four facts (records/auto_rag.jsonl). Each fact has a passage of its own and names
the subject of the next one, and each chain has two near misses. A question of h hops needs the first h facts
of a chain. There are eight questions for each of one to four hops over one library of 48 passages.

A second reader wrote replies to forty of the prompts, drawn by their digests, before it saw the kept ones.
Each takes the place of the kept reply in the runs that send its prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ragweave.evals.claims.common import ClaimReport, Given, Row, drawing, gain, lookup, save
from ragweave.evals.claims.played import ClaimRecord, Run, kept_note, played, stroke, verdict

NAME = "auto_rag"
HOPS = (1, 2, 3, 4)
PRESET, AGENT, ONE = "Auto-RAG, 3 a turn", "agent", "agent, no reasoning"


def preset(shown: int) -> Mapping[str, Any]:
    """Return the knobs of the paper with a number of documents for each turn."""
    method = {"form": "auto-rag", "fusion": "dense", "turn_passages": shown}
    return {"preset": "auto-rag-paper", "method": method, "top_k": 10}


def standard(shown: int) -> Mapping[str, Any]:
    """Return the knobs of one search as the paper's preset searches, and one call over the best documents."""
    return {"corpora": ["paragraph"], "method": {"fusion": "dense"}, "top_k": shown}


ARMS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Auto-RAG, 1 a turn": ("auto_rag", preset(1)),
    PRESET: ("auto_rag", preset(3)),
    "Auto-RAG, 10 a turn": ("auto_rag", preset(10)),
    AGENT: ("agent", {"check_by": "off"}),
    "agent, 3 a turn": ("agent", {"check_by": "off", "top_k": 3}),
    ONE: ("agent", {"check_by": "off"}),
    "standard RAG, 1": ("plain", standard(1)),
    "standard RAG, 3": ("plain", standard(3)),
    "standard RAG, 10": ("plain", standard(10)),
}
"""Graph and knobs of each arm."""
LEFT_OUT = ("agent, 3 a turn",)
"""What the short report leaves out."""
DOCUMENTS = (1, 3, 10)
"""Documents a turn, and of a plain search (figure 4)."""


@cache
def without_reasoning() -> Any:
    """Return the agent without `reason`: it searches the question once and writes."""
    from ragweave.evals.off import without
    from ragweave.graphs.agent import build

    return without(build(), ["reason"]).compile(name="agent")


def passages(record: ClaimRecord) -> list[Row]:
    """Return the library."""
    out = []
    for chain in record.of("chain"):
        for n, text in enumerate([*chain["links"], *chain["near"]]):
            out.append({"id": f"{chain['id']}-{n}", "title": text["title"], "text": text["text"]})
    return out


async def runs(record: ClaimRecord, work: Path) -> list[Run]:
    """Index the library and return all runs."""
    from ragweave.evals.corpus import prepare

    library = (await prepare(passages(record), "auto-rag", work)).library.name
    out = []
    for arm, (graph, knobs) in ARMS.items():
        build = without_reasoning if arm == ONE else None
        for chain in record.of("chain"):
            for hop in HOPS:
                name, question = f"{arm}/{hop}/{chain['id']}", chain["links"][hop - 1]["question"]
                out.append(Run(name, question, graph, {"library": library, **knobs}, build))
    return out


Table = dict[str, dict[int, list[Row]]]
"""Outcomes by arm and hops, in the order of the chains."""


def by_hop(outcomes: Sequence[Row]) -> Table:
    """Sort outcomes by arm and hops."""
    out: Table = {}
    for arm in ARMS:
        out[arm] = {}
        for hop in HOPS:
            out[arm][hop] = []
    for row in outcomes:
        arm, hop, _ = row["run"].split("/")
        out[arm][int(hop)].append(row)
    return out


def rights(record: ClaimRecord, rows: Sequence[Row]) -> list[float]:
    """Return 1 for each right answer."""
    chains = lookup(record.of("chain"), "id", "links")
    out = []
    for row in rows:
        _, hop, id = row["run"].split("/")
        out.append(float(verdict(row, chains[id][int(hop) - 1]["answers"]) == "right"))
    return out


async def again(record: ClaimRecord, every: Sequence[Run]) -> str:
    """Return how often a second reader's reply leads to another outcome.

    A run may come to prompts that no other run sends; that reader has answered these too.
    """
    rows = record.of("second")
    more = lookup(rows, "key", "text")
    before = record.outcomes()
    counts = {"prompts": 0, "runs": 0, "rounds": 0, "verdict": 0, "changed": 0}
    for row in rows:
        some = []
        for run in every:
            if run.name in row["runs"]:
                some.append(run)
        kept = {**more, **record.kept, row["key"]: row["text"]}
        found, _, changed = await played(some, ClaimRecord(record.rows, kept))
        counts["prompts"] += bool(some)
        counts["runs"] += len(some)
        counts["changed"] += changed
        for outcome in found:
            old = before[outcome["run"]]
            counts["rounds"] += outcome["rounds"] != old["rounds"]
            counts["verdict"] += rights(record, [outcome]) != rights(record, [old])
    return _in_words(counts)


def _in_words(counts: Mapping[str, int]) -> str:
    text = (
        f"a second reader's replies to {counts['prompts']} prompts, one at a time, in {counts['runs']} runs:"
    )
    text += f" {counts['verdict']} end with another verdict, {counts['rounds']} with another number of rounds"
    return f"{text}; of {counts['changed']} a prompt has changed since" if counts["changed"] else text


def report(record: ClaimRecord, outcomes: Sequence[Row], changed: int = 0, second: str = "") -> ClaimReport:
    """Return rounds and right answers by hops for every arm."""
    found = by_hop(outcomes)
    chains = len(record.of("chain"))
    heads = "   1 hop  2 hops  3 hops  4 hops"
    lines = [f"{chains} questions of each number of hops", ""]
    lines.append(f"{'rounds, mean':22}{heads}   4 hops - 1 hop, with its 95 % interval (paired bootstrap)")
    figures: dict[str, float] = {}
    for arm in reasoning():
        hops = found[arm]
        cells = ""
        for hop, rows in hops.items():
            mean = _mean(rows, "rounds")
            figures[f"{arm}, {hop} hops, rounds"] = round(mean, 4)
            cells += f"{mean:8.2f}"
        more = gain(_values(hops[HOPS[0]], "rounds"), _values(hops[HOPS[-1]], "rounds"))
        lines.append(f"{arm:22}{cells}   {more}")
    lines += ["", f"{'right answers':22}{heads}   calls of the model, mean"]
    for arm, hops in found.items():
        cells = ""
        all_rows: list[Row] = []
        for hop, rows in hops.items():
            right = sum(rights(record, rows))
            figures[f"{arm}, {hop} hops, right"] = right
            cells += f"{right:8.0f}"
            all_rows += rows
        lines.append(f"{arm:22}{cells}   {_mean(all_rows, 'calls'):.2f}")
    lines += ["", "share of right answers, less the agent without reasoning"]
    base = _over_hops(record, found[ONE])
    for arm in (PRESET, AGENT):
        lines.append(f"{arm:22}{gain(base, _over_hops(record, found[arm]))}")
    lines += ["", *_by_documents(record, found)]
    lines += ["", kept_note(len(outcomes), changed), *filter(None, [second])]
    return ClaimReport("\n".join(lines), figures, lambda path: draw(record, found, path))


def reasoning() -> list[str]:
    """Return the arms that are graphs, not a single search."""
    out = []
    for arm, (graph, _) in ARMS.items():
        if graph != "plain":
            out.append(arm)
    return out


def _by_documents(record: ClaimRecord, found: Table) -> list[str]:
    """Return the share of right answers over all hops by the documents of a turn or a search (figure 4)."""
    lines = [f"{'right, by documents':22}" + "".join(map("{:8}".format, DOCUMENTS)) + "   spread"]
    leads = []
    means: dict[str, list[float]] = {"Auto-RAG": [], "standard RAG": []}
    for shown in DOCUMENTS:
        ours = _over_hops(record, found[f"Auto-RAG, {shown} a turn"])
        theirs = _over_hops(record, found[f"standard RAG, {shown}"])
        means["Auto-RAG"].append(sum(ours) / len(ours))
        means["standard RAG"].append(sum(theirs) / len(theirs))
        leads.append(gain(theirs, ours))
    for name, row in means.items():
        cells = "".join(map("{:8.2f}".format, row))
        lines.append(f"{name:22}{cells}   {max(row) - min(row):.2f}")
    return [*lines, f"Auto-RAG less standard RAG: {', '.join(leads)}"]


def _values(rows: Sequence[Row], key: str) -> list[float]:
    return [float(row[key]) for row in rows]


def _mean(rows: Sequence[Row], key: str) -> float:
    return sum(_values(rows, key)) / len(rows)


def _over_hops(record: ClaimRecord, hops: Mapping[int, Sequence[Row]]) -> list[float]:
    """Return the share of right answers of each chain, so that the interval resamples chains."""
    by_hops = [rights(record, rows) for rows in hops.values()]
    shares = []
    for of_chain in zip(*by_hops, strict=True):
        shares.append(sum(of_chain) / len(of_chain))
    return shares


def draw(record: ClaimRecord, found: Table, path: Path) -> None:
    """Draw rounds and right answers by hops."""
    figure, (left, right) = drawing(2, (12, 3.8))
    for n, (arm, hops) in enumerate(found.items()):
        rounds = []
        shares = []
        for rows in hops.values():
            rounds.append(_mean(rows, "rounds"))
            shares.append(sum(rights(record, rows)) / len(rows))
        if arm in reasoning():
            left.plot(HOPS, rounds, label=arm, **stroke(n))
            right.plot(HOPS, shares, label=arm, **stroke(n))
        else:
            right.plot(HOPS, shares, label=arm, linestyle=":", marker=".")
    left.set(title="rounds", xticks=HOPS, xlabel="hops", ylim=(0, None))
    right.set(title="share of right answers", xticks=HOPS, xlabel="hops", ylim=(-0.03, 1.03))
    right.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    save(figure, path)


async def claim(given: Given) -> ClaimReport:
    """Run all arms again with the recorded replies, then a part with those of a second reader, and report."""
    record = ClaimRecord.read(NAME)
    every = await runs(record, given.work)
    outcomes, _, changed = await played(every, record)
    return report(record, outcomes, changed, await again(record, every))
