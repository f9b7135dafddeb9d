"""`ragweave bench PAPER`: a paper's table run again beside what it printed, or its claim shown in small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.evals.commands.common import WORK, JsonOut, ModeName, Set, Work, run, runner

if TYPE_CHECKING:
    from ragweave.evals.bench.cost import Taken
    from ragweave.evals.bench.run import BenchSet, ScoredSet
    from ragweave.evals.bench.show import Grid
    from ragweave.evals.bench.tables import Arm, Paper, Table


def bench(
    paper: Annotated[str, typer.Argument(help="universal-rag, rag-fusion, crag, auto-rag or video-rag.")],
    table: Annotated[str, typer.Option("--table", metavar="N", help="Number of the table.")] = "1",
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with the table's sets, each under its own name.")
    ] = None,
    from_: Annotated[
        list[str] | None,
        typer.Option(
            "--from", metavar="SET=PATH", help="Where one set lies; a set of another name is added."
        ),
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="Passages that every set is asked of, beside their own.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Answers of other systems (LongerVideos), for the judge.")
    ] = None,
    arms: Annotated[str, typer.Option("--arms", help="Only these arms, by semicolons.")] = "",
    beside: Annotated[
        str, typer.Option("--beside", help="Published block to show; default: the first.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Questions of each set, drawn by the seed; 0: all.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draw, and of the random arm.")] = 0,
    mode: ModeName = "auto",
    set_: Set = None,
    width: Annotated[
        int, typer.Option("--width", min=0, max=256, help="Questions at once; 0: as many as calls.")
    ] = 0,
    runs: Annotated[int, typer.Option("--runs", min=1, max=20, help="Times that a judge is asked.")] = 5,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would take, and stop.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a chat model is called.")] = False,
    claim: Annotated[
        bool, typer.Option("--claim", help="Show what the paper claims, in small, from kept replies.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="PICTURE", help="With --claim: draw it (.svg or .png).")
    ] = None,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Run the arms of a published table on the sets that are here, and print them beside the paper's figures.

    A run that is stopped goes on where it was when the same command is given again. With --claim, an
    experiment in small replays the paper's claim from replies that are kept (docs/papers.md).
    """
    if claim:
        return _claim(paper, data, work, plot, json_out)
    from ragweave.components.run_settings import with_settings
    from ragweave.components.stand_ins import told
    from ragweave.evals.bench import show
    from ragweave.evals.bench.cost import judging
    from ragweave.evals.bench.run import context_of
    from ragweave.evals.bench.tables import paper as paper_of
    from ragweave.evals.bench.tables import table as table_of
    from ragweave.evals.commands.eval import needs
    from ragweave.evals.corpus import use_home
    from ragweave.evals.report import write_json
    from ragweave.models.chat import chat
    from ragweave.models.errors import InputError
    from ragweave.models.settings import model_settings

    needs()
    work = work.resolve()
    use_home(work / "home")  # before any setting is read
    of = paper_of(paper)
    chosen = table_of(of, table)
    if beside and beside not in chosen.published:
        raise InputError(f"the table has no block “{beside}”", f"use one of: {', '.join(chosen.published)}")
    more = with_settings({}, set_).model_dump(exclude_unset=True)
    asked, missing = _sets(chosen, data, from_ or [], corpus, limit, seed)
    extra = [c for a in asked if a.set not in chosen.sets for c in a.set.columns if not chosen.columns]
    speaks = mode != "extractive" and chat("writer") is not None
    mode = mode if speaks or mode == "llm" else "extractive"
    ran, left_out = _arms(of, chosen, arms, speaks)
    _say_cost(of, ran, asked, mode, more, speaks, judging(chosen, ran, asked, answers is not None, runs))
    if estimate:
        return
    if speaks and not yes:
        typer.confirm("Go on?", abort=True)
    notes = [f"{n}: not here, its column is the paper's alone." for n in missing]
    notes += [f"{name}: needs a {why}, left out." for name, why in left_out]
    if any(m == "bert" for s in chosen.sets for m in s.metrics):
        notes.append("BERTScore needs weights that are not shipped and is not counted here.")
    with runner(work, width or (model_settings().chat_width if speaks else 2)) as made:
        found, grids, said = run(
            _measured(of, table, chosen, asked, ran, mode, more, seed, answers, runs, made, work)
        )
        notes += said
    if not grids:
        here = show.HERE if speaks else show.QUOTED
        grids = show.grids(of, table, chosen, found, beside or next(iter(chosen.published), ""), extra, here)
    for grid in grids:
        typer.echo(show.markdown(grid) + "\n")
    drawn = ", ".join(f"{a.set.name} {len(a.bundle.questions)}" for a in asked)
    model = chat("writer") if speaks else None
    notes.append(
        f"Questions: {drawn} (seed {seed}). Chat model:"
        f" {f'{model.name} at {model.host}' if model else 'none'}."
    )
    notes += dict.fromkeys(
        filter(None, (told(context_of(arm, a, mode, more)) for arm in ran.values() for a in asked))
    )
    used = [u for rows in found.values() for row in rows for u in row.outcome.answer.usage]
    if speaks:
        taken = [
            sum(u.calls for u in used),
            sum(u.input_tokens for u in used),
            sum(u.output_tokens for u in used),
        ]
        notes.append("Taken: {:,} calls, {:,} tokens in, {:,} out.".format(*taken))
    routed = [n for n, arm in ran.items() if arm.needs == "router"]
    if len(routed) > 1:
        notes.append(f"{', '.join(routed)}: all ran the one router that RAGWEAVE_ROUTER names; see --arms.")
    typer.echo("\n".join(notes))
    if json_out:
        write_json(json_out, show.flat(chosen, found, extra))


def _claim(paper: str, data: Path | None, work: Path, plot: Path | None, json_out: Path | None) -> None:
    """Print what a paper claims beside what is measured here; draw it and write its figures if asked."""
    from importlib import import_module

    from ragweave.evals.claims import CLAIMS
    from ragweave.evals.claims.common import Given
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
    typer.echo(report.text)
    if plot:
        report.draw(plot)
    if json_out:
        write_json(json_out, report.figures)


def _sets(
    table: Table, data: Path | None, given: list[str], corpus: Path | None, limit: int, seed: int
) -> tuple[list[BenchSet], list[str]]:
    """Return the sets that are here, those of the table first, and the names of those that are not."""
    from ragweave.evals.bench.forms import collections, read
    from ragweave.evals.bench.run import BenchSet
    from ragweave.evals.data import sample
    from ragweave.models.errors import InputError

    where: dict[str, Path] = {}
    for pair in given:
        name, equals, path = pair.partition("=")
        if not equals:
            raise InputError(
                f"`--from {pair}` is not of the form SET=PATH", "write, say, --from hotpotqa=DIR"
            )
        where[name] = Path(path)
    known = {s.name: s for s in table.sets}
    for name in known if data is not None else ():
        assert data is not None
        ends = [data / name, *(data / f"{name}{end}" for end in (".jsonl", ".json", ".tsv", ".csv"))]
        if here := [p for p in ends if p.exists()]:
            where.setdefault(name, here[0])
    if not where:
        raise InputError("no set of the table is here", f"give --data, or --from {next(iter(known))}=PATH")
    out = []
    for name in sorted(where, key=lambda n: [*known, n].index(n)):
        of = known.get(name) or table.other.model_copy(update={"name": name})
        whole = read(name, where[name], corpus)
        drawn = replace(whole, questions=sample(whole.questions, limit, seed))
        out += [BenchSet(of, b) for b in (collections(drawn, where[name]) if of.apart else [drawn])]
    return out, [n for n in known if n not in where]


def _arms(of: Paper, table: Table, only: str, speaks: bool) -> tuple[dict[str, Arm], list[tuple[str, str]]]:
    """Return the arms that can run, and those that cannot with what they need."""
    from ragweave.corpora.web.providers import available
    from ragweave.models.errors import InputError
    from ragweave.models.settings import model_settings

    wanted = [a.strip() for a in only.split(";") if a.strip()] or list(table.arms)
    for name in wanted:
        if name not in table.arms:
            raise InputError(f"the table has no arm “{name}”", f"use one of: {'; '.join(table.arms)}")
    here = {"": True, "model": speaks, "router": bool(model_settings().router), "web": bool(available())}
    told = {
        "model": "chat model",
        "router": "trained router (RAGWEAVE_ROUTER)",
        "web": "web search (RAGWEAVE_WEB_SEARX_URL, RAGWEAVE_TAVILY_KEY or RAGWEAVE_WEB_FOLDER)",
    }
    ran = {n: of.arms[n] for n in wanted if here[of.arms[n].needs]}
    return ran, [(n, told[of.arms[n].needs]) for n in wanted if n not in ran]


def _say_cost(
    of: Paper,
    ran: dict[str, Arm],
    asked: list[BenchSet],
    mode: str,
    more: dict[str, Any],
    speaks: bool,
    judge: Taken,
) -> None:
    """Print what the run takes at most before anything is asked."""
    from ragweave.components.indexing import at_indexing
    from ragweave.evals.bench.cost import most
    from ragweave.evals.bench.run import context_of
    from ragweave.models.settings import model_settings

    parts = [
        most(arm, a, context_of(arm, a, mode, more), asked * of.together)
        for arm in ran.values()
        for a in asked
    ]
    taken = sum(parts, judge)
    typer.echo(
        f"{len(ran)} arms, {len(ran) * sum(len(a.bundle.questions) for a in asked)} questions to ask.",
        err=True,
    )
    if speaks:
        rate = (
            model_settings()
            .rate_table()
            .get(model_settings().chat.partition(":")[2] or model_settings().chat)
        )
        cost = f", {taken.tokens * rate[0] / 1e6:.2f} for them in the unit of your rates" if rate else ""
        typer.echo(
            f"At most {taken.calls:,} calls and {taken.tokens:,} tokens in{cost}; second tries and replies"
            " come on top. Most runs take far less: what was taken is told at the end, with --limit for a"
            " few questions.",
            err=True,
        )
    models = at_indexing()
    if any(a.bundle.files for a in asked) and (models.captioner or models.extractor):
        typer.echo("Indexing the recordings asks models before that; these calls are not counted.", err=True)


async def _measured(
    of: Paper,
    number: str,
    table: Table,
    asked: list[BenchSet],
    ran: dict[str, Arm],
    mode: str,
    more: dict[str, Any],
    seed: int,
    answers: Path | None,
    times: int,
    made: Any,
    work: Path,
) -> tuple[dict[str, list[ScoredSet]], list[Grid], list[str]]:
    """Ask every arm; with a judge also let it speak, and return its tables."""
    from ragweave.evals.bench import judged, show
    from ragweave.evals.bench.run import ask, prepared
    from ragweave.models.chat import chat

    sets = await prepared(of, asked, work)
    found = {
        name: [row for a in sets for row in await ask(name, arm, a, made, mode, more, seed)]
        for name, arm in ran.items()
    }
    if not table.judge:
        return found, [], []
    model = chat("judge") if mode != "extractive" else None
    if model is None or judged.OURS not in found:
        return (
            found,
            [*judged.grids(of, number, table, {}), show.side_grid(found)],
            ["Judging needs a chat model."],
        )
    said = await judged.verdicts(table, judged.pairs(table, found, answers), model, times, made)
    return found, [*judged.grids(of, number, table, said), show.side_grid(found)], []
