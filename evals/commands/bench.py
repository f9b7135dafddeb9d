"""`ragweave bench PAPER`: run a paper's table again next to the printed one, or show its claim in small."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.evals.commands.common import WORK, JsonOut, ModeName, Set, Work, run, runner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragweave.evals.bench.plan import TablePlan
    from ragweave.evals.bench.run import ScoredSet
    from ragweave.evals.bench.tables import Table
    from ragweave.evals.bert import BertScore

PaperName = Annotated[str, typer.Argument(help="universal-rag, rag-fusion, crag, auto-rag or video-rag.")]
TableNumber = Annotated[str, typer.Option("--table", metavar="N", help="Number of the table.")]
Data = Annotated[
    Path | None, typer.Option("--data", help="Folder with the table's sets, each under its own name.")
]
SetPaths = Annotated[
    list[str] | None,
    typer.Option("--from", metavar="SET=PATH", help="Path of one set; a set of another name is added."),
]
Passages = Annotated[
    Path | None, typer.Option("--corpus", help="Passages to search for every set, instead of its own.")
]
Answers = Annotated[
    Path | None, typer.Option("--answers", help="Answers of other systems (LongerVideos), for the judge.")
]
ArmNames = Annotated[str, typer.Option("--arms", help="Only these arms, separated by semicolons.")]
Block = Annotated[str, typer.Option("--beside", help="Published block to show; default: the first.")]
Limit = Annotated[
    int, typer.Option("--limit", min=0, help="Questions of each set, drawn by the seed; 0: all.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw and of the random arm.")]
Width = Annotated[
    int, typer.Option("--width", min=0, max=256, help="Questions at once; 0: as many as calls.")
]
JudgeRuns = Annotated[int, typer.Option("--runs", min=1, max=20, help="Number of times to ask a judge.")]
Estimate = Annotated[bool, typer.Option("--estimate", help="Print what the run takes at most, and stop.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before calling a chat model.")]
Claim = Annotated[
    bool, typer.Option("--claim", help="Show what the paper claims, in small, from recorded replies.")
]
Short = Annotated[
    bool, typer.Option("--short", help="With --claim: leave out the lines that the verdict does not need.")
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="PICTURE", help="With --claim: draw it (.svg or .png).")
]
Bert = Annotated[
    str,
    typer.Option("--bertscore", metavar="FOLDER[:LAYER]", help="Weights for BERTScore; none: not counted."),
]


def bench(
    paper: PaperName,
    table: TableNumber = "1",
    data: Data = None,
    from_: SetPaths = None,
    corpus: Passages = None,
    answers: Answers = None,
    arms: ArmNames = "",
    block: Block = "",
    limit: Limit = 0,
    seed: Seed = 0,
    mode: ModeName = "auto",
    set_: Set = None,
    width: Width = 0,
    runs: JudgeRuns = 5,
    estimate: Estimate = False,
    yes: Yes = False,
    claim: Claim = False,
    short: Short = False,
    plot: Plot = None,
    bertscore: Bert = "",
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Run the arms of a published table on the available sets, and print them next to the paper's figures.

    A stopped run continues if the same command is given again. With --claim, a small experiment reproduces
    the paper's claim from recorded replies (docs/papers.md).
    """
    if claim:
        return _claim(paper, data, work, short, plot, json_out)
    options = TableOptions(
        paper, table, block, arms, mode, set_, data, from_ or [], corpus, limit, seed, answers, runs,
        bertscore,
    )  # fmt: skip
    _run_table(options, estimate, yes, width, work.resolve(), json_out)


@dataclass(frozen=True)
class TableOptions:
    """The options of the command that choose the table, its sets and its arms."""

    paper: str
    number: str
    block: str
    arms: str
    mode: str
    settings: list[str] | None
    data: Path | None
    set_paths: list[str]
    corpus: Path | None
    limit: int
    seed: int
    answers: Path | None
    judge_runs: int
    bertscore: str


def _run_table(
    options: TableOptions, estimate: bool, yes: bool, width: int, work: Path, json_out: Path | None
) -> None:
    """Print the cost of a table, then run it."""
    from ragweave.evals.bert import SKIPPED, BertScore
    from ragweave.evals.commands.eval import needs
    from ragweave.evals.corpus import use_home

    needs()
    use_home(work / "home")  # before any setting is read
    plan, notes = _plan(options)
    bert = BertScore(options.bertscore) if options.bertscore else None
    if bert:
        notes.append(f"BERTScore: {bert.name}, not rescaled.")
    elif _has_bert(plan.table):
        notes.append(SKIPPED)
    _print_cost(plan)
    if estimate:
        return
    if plan.generates and not yes:
        typer.confirm("Go on?", abort=True)
    _run(plan, bert, options.block, notes, width, work, json_out)


def _has_bert(table: Table) -> bool:
    """Return whether a set of a table is measured by BERTScore."""
    for known in table.sets:
        if "bert" in known.metrics:
            return True
    return False


def _plan(options: TableOptions) -> tuple[TablePlan, list[str]]:
    """Return what the command runs, and a note on each set and arm that it leaves out."""
    from ragweave.components.run_settings import with_settings
    from ragweave.evals.bench import tables
    from ragweave.evals.bench.plan import TablePlan, available_arms, available_sets, set_paths
    from ragweave.models.chat import chat
    from ragweave.models.errors import InputError

    paper = tables.paper(options.paper)
    table = tables.table(paper, options.number)
    if options.block and options.block not in table.published:
        blocks = ", ".join(table.published)
        raise InputError(f"the table has no block “{options.block}”", f"use one of: {blocks}")
    knobs = with_settings({}, options.settings).model_dump(exclude_unset=True)
    paths = set_paths(table, options.data, options.set_paths)
    sets = available_sets(table, paths, options.corpus, options.limit, options.seed)
    mode = options.mode
    generates = mode != "extractive" and chat("writer") is not None
    if not generates and mode != "llm":
        mode = "extractive"
    arms, lacking = available_arms(paper, table, options.arms, generates)
    plan = TablePlan(
        paper, options.number, table, sets, arms, mode, knobs, generates, options.seed, options.answers,
        options.judge_runs,
    )  # fmt: skip
    return plan, _left_out(table, paths, lacking)


def _left_out(table: Table, paths: Mapping[str, Path], lacking: Mapping[str, str]) -> list[str]:
    """Return a note on each set and arm that does not run."""
    notes = []
    for known in table.sets:
        if known.name not in paths:
            notes.append(f"{known.name}: not here, its column is the paper's alone.")
    for name, need in lacking.items():
        notes.append(f"{name}: needs a {need}, left out.")
    return notes


def _run(
    plan: TablePlan,
    bert: BertScore | None,
    block: str,
    notes: list[str],
    width: int,
    work: Path,
    json_out: Path | None,
) -> None:
    """Measure the arms, and print the tables and notes."""
    from ragweave.evals.bench import show
    from ragweave.evals.bench.plan import can_judge, measured
    from ragweave.evals.bert import with_bert
    from ragweave.evals.report import write_json
    from ragweave.models.settings import model_settings

    at_once = width or (model_settings().chat_width if plan.generates else 2)
    with runner(work, at_once) as made:
        found, grids = run(measured(plan, made, work))
    if bert:
        for name, rows in found.items():
            found[name] = with_bert(rows, bert)
    if plan.table.judge and not can_judge(plan):
        notes.append("Judging needs a chat model.")
    if not grids:
        block = block or next(iter(plan.table.published), "")
        ours = show.HERE if plan.generates else show.QUOTED
        grids = show.grids(plan.paper, plan.number, plan.table, found, block, plan.extra_columns, ours)
    for grid in grids:
        typer.echo(show.markdown(grid) + "\n")
    typer.echo("\n".join([*notes, *_run_notes(plan, found)]))
    if json_out:
        write_json(json_out, show.flat(plan.table, found, plan.extra_columns))


def _run_notes(plan: TablePlan, found: Mapping[str, Sequence[ScoredSet]]) -> list[str]:
    """Return notes on the questions, the chat model, what replaces the paper's models, and the costs."""
    from ragweave.components import stand_ins
    from ragweave.models.chat import chat

    counts = []
    for bench_set in plan.sets:
        counts.append(f"{bench_set.set.name} {len(bench_set.bundle.questions)}")
    drawn = ", ".join(counts)
    model = chat("writer") if plan.generates else None
    name = f"{model.name} at {model.host}" if model else "none"
    notes = [f"Questions: {drawn} (seed {plan.seed}). Chat model: {name}."]
    for arm in plan.arms.values():
        for bench_set in plan.sets:
            replaced = stand_ins.told(plan.context(arm, bench_set))
            if replaced and replaced not in notes:
                notes.append(replaced)
    if plan.generates:
        notes.append(_taken(found))
    routed = []
    for arm_name, arm in plan.arms.items():
        if arm.needs == "router":
            routed.append(arm_name)
    if len(routed) > 1:
        notes.append(f"{', '.join(routed)}: all ran the one router that RAGWEAVE_ROUTER names; see --arms.")
    return notes


def _taken(found: Mapping[str, Sequence[ScoredSet]]) -> str:
    calls = tokens_in = tokens_out = 0
    for rows in found.values():
        for row in rows:
            for used in row.outcome.answer.usage:
                calls += used.calls
                tokens_in += used.input_tokens
                tokens_out += used.output_tokens
    return f"Taken: {calls:,} calls, {tokens_in:,} tokens in, {tokens_out:,} out."


def _print_cost(plan: TablePlan) -> None:
    """Print what the run takes at most, before anything is asked."""
    from ragweave.components.indexing import at_indexing
    from ragweave.evals.bench.cost import judging, most

    total = judging(plan.table, plan.arms, plan.sets, plan.answers is not None, plan.judge_runs)
    shared = plan.sets if plan.paper.together else []
    for arm in plan.arms.values():
        for bench_set in plan.sets:
            total += most(arm, bench_set, plan.context(arm, bench_set), shared)
    questions = 0
    has_files = False
    for bench_set in plan.sets:
        questions += len(bench_set.bundle.questions)
        has_files = has_files or bool(bench_set.bundle.files)
    typer.echo(f"{len(plan.arms)} arms, {len(plan.arms) * questions} questions to ask.", err=True)
    if plan.generates:
        typer.echo(
            f"At most {total.calls:,} calls and {total.tokens:,} tokens in{_price(total.tokens)};"
            " second tries and replies come on top. Most runs take far less: the end of the run prints what"
            " was taken. Try --limit for a few questions.",
            err=True,
        )
    models = at_indexing()
    if has_files and (models.captioner or models.extractor):
        typer.echo("Indexing the recordings asks models before that; these calls are not counted.", err=True)


def _price(tokens: int) -> str:
    """Return the price of tokens in words, if the settings name a rate for the chat model."""
    from ragweave.models.settings import model_settings

    settings = model_settings()
    rate: Any = settings.rate_table().get(settings.chat.partition(":")[2] or settings.chat)
    return f", {tokens * rate[0] / 1e6:.2f} for them in the unit of your rates" if rate else ""


def _claim(
    paper: str, data: Path | None, work: Path, short: bool, plot: Path | None, json_out: Path | None
) -> None:
    """Print what a paper claims next to the figures measured here; optionally draw and write them."""
    from importlib import import_module

    from ragweave.evals.claims import CLAIMS
    from ragweave.evals.claims.common import Given, shortened
    from ragweave.evals.commands.common import writable
    from ragweave.evals.corpus import use_home
    from ragweave.evals.report import write_json
    from ragweave.models.errors import InputError

    if paper not in CLAIMS:
        raise InputError(f"there is no paper “{paper}”", f"use one of: {', '.join(CLAIMS)}")
    if plot and writable(plot).suffix not in (".svg", ".png"):
        raise InputError(f"{plot} is neither .svg nor .png", "name the picture by one of these")
    work = work.resolve() / "claims"
    use_home(work / "home")  # before any setting is read
    module = import_module(f"ragweave.evals.claims.{CLAIMS[paper]}")
    report = run(module.claim(Given(data, work)))
    typer.echo(shortened(report.text, module.LEFT_OUT) if short else report.text)
    if plot:
        report.draw(plot)
    if json_out:
        write_json(json_out, report.figures)
