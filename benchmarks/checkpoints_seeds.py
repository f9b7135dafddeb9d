"""Train routers and evaluators by several recipes and seeds, and compare them with the shipped heads.

    python benchmarks/checkpoints_seeds.py train --base FOLDER --router FILE --evaluator FILE    on a GPU: minutes
    python benchmarks/checkpoints_seeds.py shipped                                    measure the shipped heads
    python benchmarks/checkpoints_seeds.py report                                     print the record

The files are those of `benchmarks/checkpoints_data.py`; RAGWEAVE_DATA names the folder of the public sets. The
sets and their measures are those of `benchmarks/checkpoints.py`, with every question. A seed chooses the rows
that are held out, and their order; the held-out rows choose the epoch. No checkpoint is kept.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from ragweave.benchmarks.checkpoints import CONFIDENT, PROBE, by_checkpoint, by_head, judged, routed, sets
from ragweave.components.grade import BY_T5
from ragweave.corpora.types import LABELS
from ragweave.evals.train_text import ENCODER_EVALUATOR, ENCODER_ROUTER, Recipe, train_evaluator, train_router
from ragweave.models import checkpoint, router
from ragweave.models.device import places
from ragweave.models.settings import model_settings

RECORD = Path(__file__).parent / "records" / "checkpoints_seeds.json"
SEEDS = (1, 2, 3)
ROUTER, EVALUATOR = replace(ENCODER_ROUTER, max_length=64), replace(ENCODER_EVALUATOR, max_length=256)
ON_A_CPU: dict[str, Any] = {"freeze_embeddings": True, "bf16": False}
"""What the training on a CPU does otherwise (docs/checkpoints.md)."""
RECIPES = {
    "router": [
        replace(ROUTER, epochs=2, rate=3e-4, **ON_A_CPU),
        replace(ROUTER, epochs=10, rate=5e-5),
        replace(ROUTER, epochs=10, rate=3e-4),
    ],
    "evaluator": [
        replace(EVALUATOR, epochs=1, rate=2e-4, batch=16, max_length=80, **ON_A_CPU),
        replace(EVALUATOR, epochs=1, rate=2e-4),
        replace(EVALUATOR, epochs=4, rate=5e-5),
        replace(EVALUATOR, epochs=4, rate=2e-4),
    ],
}
"""The first of each task is the recipe of `benchmarks/checkpoints.py`."""
OWN = {"router": "accuracy_micro", "evaluator": "auc"}
"""What a training measures on the rows that it holds out."""
MEASURES = {"router": ("accuracy",), "evaluator": ("auc", "first is relevant")}

Figures = dict[str, Any]


def router_files() -> dict[str, Path]:
    """Return the questions that routers are measured on, by name."""
    data = Path(os.environ["RAGWEAVE_DATA"])
    return {"probe": PROBE, "own questions": data / "router_own" / "own_dev.jsonl"}


@lru_cache(maxsize=1)
def evaluator_sets() -> Any:
    """Return the questions that evaluators are measured on, by name."""
    return sets(Path(os.environ["RAGWEAVE_DATA"]), 1)


def one(task: str, number: int, seed: int, base: Path, data: Path) -> Figures:
    """Train once by a recipe, and measure what was trained."""
    recipe = replace(RECIPES[task][number], seed=seed)
    found: Figures = {}
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / task
        train = train_router if task == "router" else train_evaluator
        trained = train(data, str(base), out, recipe)
        if task == "router":
            route = checkpoint.router(str(out), LABELS)
            for name, path in router_files().items():
                found[name] = routed(path, route)
        else:
            os.environ["RAGWEAVE_EVALUATOR"] = str(out)
            model_settings.cache_clear()
            for name, (questions, _) in evaluator_sets().items():
                found[name] = judged(questions, by_checkpoint(), BY_T5, alone=True)
    return {"task": task, "recipe": title(recipe), "seed": seed, "trained": trained, "sets": found}


def title(recipe: Recipe) -> str:
    """Return a recipe in a few words."""
    epochs = "1 epoch" if recipe.epochs == 1 else f"{recipe.epochs} epochs"
    rest = ", words frozen" if recipe.freeze_embeddings else ""
    return f"{epochs}, rate {recipe.rate:g}, {recipe.max_length} tokens{rest}"


def train_all(base: Path, files: dict[str, Path], workers: int, record: Path) -> None:
    """Train by every recipe with every seed; keep the record up to date after each, and what it holds already."""
    kept: Figures = {"runs": [], **_read(record)}
    kept |= {"base": base.name, "device": places(), "rows": {}}
    for task, path in files.items():
        kept["rows"][task] = sha256(path.read_bytes()).hexdigest()
    done = {(run["task"], run["recipe"], run["seed"]) for run in kept["runs"]}
    spawned = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
    with ProcessPoolExecutor(workers, mp_context=spawned) as pool:
        waiting = []
        for task, recipes in RECIPES.items():
            for number, seed in product(range(len(recipes)), SEEDS):
                if (task, title(recipes[number]), seed) not in done:
                    waiting.append(pool.submit(one, task, number, seed, base, files[task]))
        for ended in as_completed(waiting):
            run = ended.result()
            kept["runs"].append(run)
            _write(record, kept)
            print(f"{run['task']}, {run['recipe']}, seed {run['seed']}: {run['trained']}", flush=True)


def shipped() -> Figures:
    """Measure the shipped heads by set, with the thresholds of a run."""
    found: Figures = {"router": {}, "evaluator": {}}
    for name, path in router_files().items():
        found["router"][name] = routed(path, router.predict)
    for name, (questions, corpus) in evaluator_sets().items():
        found["evaluator"][name] = judged(questions, by_head(corpus), CONFIDENT, alone=False)
    return found


def report(record: Figures) -> str:
    """Return the record as lines: of each recipe the mean over the seeds, the lowest and the highest."""
    lines = [f"from {record['base']}, {len(SEEDS)} seeds; {record['device']}"]
    for task, measures in MEASURES.items():
        lines += ["", f"{task:50}" + "".join([f"{name:>24}" for name in measures])]
        lines.append("held out of the rows that were learnt from")
        for recipe in RECIPES[task]:
            lines.append(_row(record, task, "", title(recipe), measures[:1]))
        for name, head in record["shipped"][task].items():
            size = f"{head['questions']} questions"
            values = "".join([f"{head[measure]:24.3f}" for measure in measures])
            lines.append(f"{f'{name} ({size}), shipped':50}{values}")
            for recipe in RECIPES[task]:
                lines.append(_row(record, task, name, title(recipe), measures))
    return "\n".join(lines)


def _row(record: Figures, task: str, name: str, recipe: str, measures: Sequence[str]) -> str:
    """Return the line of a recipe on a set; of an empty name, on the rows that the training held out."""
    cells: list[str] = []
    for measure in measures:
        values: list[float] = []
        for run in record["runs"]:
            if (run["task"], run["recipe"]) == (task, recipe):
                values.append(run["sets"][name][measure] if name else run["trained"][OWN[task]])
        cells.append(f"{f'{mean(values):.3f} ({min(values):.3f} to {max(values):.3f})':>24}")
    return f"{f'  {recipe}':50}{''.join(cells)}"


def _read(record: Path) -> Figures:
    found: Figures = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    return found


def _write(record: Path, kept: Figures) -> None:
    record.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Train, measure the shipped heads, or print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", type=Path, default=RECORD)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("report")
    commands.add_parser("shipped")
    training = commands.add_parser("train")
    training.add_argument("--base", type=Path, required=True)
    training.add_argument("--router", type=Path, required=True)
    training.add_argument("--evaluator", type=Path, required=True)
    training.add_argument("--workers", type=int, default=1, help="trainings at once on the GPU")
    given = parser.parse_args()
    if given.command == "train":
        files = {"router": given.router, "evaluator": given.evaluator}
        train_all(given.base, files, given.workers, given.record)
    elif given.command == "shipped":
        _write(given.record, _read(given.record) | {"shipped": shipped()})
    kept = _read(given.record)
    if not {"shipped", "runs"} <= set(kept):
        parser.error(f"{given.record.name} lacks a part: run both `train` and `shipped`")
    print(report(kept))


if __name__ == "__main__":
    main()
