"""Compare what models compute on a GPU with what they compute on the CPU, and the time of each.

    python benchmarks/device.py measure                 with tiny models of random weights
    python benchmarks/device.py measure --base FOLDER   with an encoder of transformers, such as all-MiniLM-L6-v2
    python benchmarks/device.py measure --keep ...      keep the figures as the record
    python benchmarks/device.py report                  print the record

It needs the extra `hf`. A router and an evaluator are trained on both devices, the router once in 16 and once
in 32 bits; then both devices read the same texts. `--speech FOLDER` compares a Whisper model of CTranslate2,
too. Times are the median of three rounds; rows are held out as by `ragweave train`.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import wave
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ragweave.corpora.types import LABELS
from ragweave.evals import router as routing
from ragweave.evals.data import read_routed
from ragweave.evals.templates import template_questions
from ragweave.evals.train_text import ENCODER_EVALUATOR, ENCODER_ROUTER, train_evaluator, train_router
from ragweave.models.checkpoint import BATCH, CheckpointEvaluator, CheckpointRouter, classifier
from ragweave.models.checkpoint_files import torch_and_transformers
from ragweave.models.device import encoding_type, places, torch_device
from ragweave.models.embed_transformers import opened
from ragweave.models.errors import RagweaveError
from ragweave.models.relevance_reading import Passage
from ragweave.models.settings import model_settings

RECORD = Path(__file__).parent / "records" / "device.json"
PROBE = Path(routing.__file__).parent / "router_probe.jsonl"
BATCHES = (1, 8, 64, 256)
ROUNDS = 3
LEARNT = 1_000
"""Rows that a training learns from and holds out."""
TEXTS = 200
"""Texts that both devices read."""
WINDOW = 20
"""Seconds of a recording that are transcribed."""
PASSAGES = 20
"""Passages that an evaluator judges for each question."""
LEAST_MEMORY = 1e-6
"""Share of a GPU's memory in which no model finds room."""

Figures = dict[str, Any]


@contextmanager
def on(device: str) -> Iterator[None]:
    """Let models be loaded onto a device inside."""
    before = os.environ.get("RAGWEAVE_DEVICE")
    os.environ["RAGWEAVE_DEVICE"] = device
    model_settings.cache_clear()
    try:
        yield
    finally:
        if before is None:
            del os.environ["RAGWEAVE_DEVICE"]
        else:
            os.environ["RAGWEAVE_DEVICE"] = before
        model_settings.cache_clear()


def questions() -> list[tuple[str, str]]:
    """Return questions with their labels: the probe of the router, then one of each pattern of the templates."""
    rows = [(row.query, row.label) for row in read_routed(PROBE, LABELS)]
    of_patterns = {row.pattern: row for row in template_questions()}
    return rows + [(made.query, made.label) for made in of_patterns.values()]


def passages(asked: Sequence[tuple[str, str]]) -> list[Passage]:
    """Return texts of growing length, from one question to forty in a row."""
    made: list[Passage] = []
    for n in range(len(asked)):
        texts = [query for query, _ in asked[n : n + 1 + n % 40]]
        made.append(Passage("", " ".join(texts)))
    return made


def tiny(folder: Path) -> Path:
    """Write a BERT of random weights that reads the words of the tests."""
    import torch
    from transformers import BertConfig, BertModel

    from ragweave.tests.hf.conftest import bert_tokenizer, save

    tokens = bert_tokenizer()
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(0)
    return save(folder, BertModel(BertConfig(vocab_size=len(tokens), pad_token_id=0, **size)), tokens)


def write_rows(folder: Path, asked: Sequence[tuple[str, str]]) -> tuple[Path, Path]:
    """Write rows for a router, and rows for an evaluator: a question is relevant to itself alone."""
    router, pairs = folder / "router.jsonl", folder / "pairs.jsonl"
    routed, judged = list[str](), list[str]()
    for n, (query, label) in enumerate(asked[:LEARNT]):
        routed.append(json.dumps({"query": query, "label": label}))
        for passage, relevant in ((query, 1), (asked[n - 1][0], 0)):
            row = {"qid": str(n), "question": query, "passage": passage, "label": relevant}
            judged.append(json.dumps(row))
    router.write_text("\n".join(routed), encoding="utf-8")
    pairs.write_text("\n".join(judged[:LEARNT]), encoding="utf-8")
    return router, pairs


def trainings(base: Path, folder: Path, device: str) -> Figures:
    """Train on the CPU and on the device; keep the folders `router` and `evaluator` of the device."""
    router, pairs = write_rows(folder, questions())
    to_route = replace(ENCODER_ROUTER, epochs=1, rate=3e-4, max_length=64)
    to_judge = replace(ENCODER_EVALUATOR, epochs=1, max_length=64)
    found: Figures = {}
    runs: list[tuple[str, str, Callable[..., dict[str, float]], Path, Any]] = []
    for place in ("cpu", device):
        runs.append((f"router on {place}", place, train_router, router, to_route))
    runs.append((f"router on {device}, --fp32", device, train_router, router, replace(to_route, bf16=False)))
    for place in ("cpu", device):
        runs.append((f"evaluator on {place}", place, train_evaluator, pairs, to_judge))
    for name, place, train, data, recipe in runs:
        out = folder / name.split()[0]
        started = time.perf_counter()
        with on(place):
            figures = train(data, str(base), out, recipe)
        found[name] = {**figures, "seconds": time.perf_counter() - started}
    return found


def timed(call: Callable[[], Any]) -> float:
    """Return the median seconds of a call after one that is not counted."""
    call()
    spent: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        spent.append(time.perf_counter() - started)
    return median(spent)


def vectors(base: Path, device: str, texts: list[str]) -> tuple[Any, Figures]:
    """Return unit vectors of texts, and texts a second by size of the batch."""
    with on(device):
        embed, usual = opened(str(base))
    made = np.concatenate([embed(texts[at : at + usual]) for at in range(0, len(texts), usual)])
    speeds: Figures = {}
    for size in BATCHES:
        batch = (texts * 2)[:size]
        speeds[str(size)] = size / timed(partial(embed, batch))
    return made / np.linalg.norm(made, axis=1, keepdims=True), speeds


def likeness(one: Any, other: Any) -> Figures:
    """Return how alike two sets of vectors of the same texts are."""
    near = [vectors @ vectors.T - 2 * np.eye(len(vectors)) for vectors in (one, other)]
    same = near[0].argmax(axis=1) == near[1].argmax(axis=1)
    return {"least cosine": float((one * other).sum(axis=1).min()), "same neighbour": float(same.mean())}


def judgements(folder: Path, device: str, texts: Sequence[Passage]) -> Figures:
    """Return scores and probabilities of the trained models on a device, alone and in batches, and times."""
    asked = questions()[: len(texts)]
    with on(device):
        judge = CheckpointEvaluator(classifier(folder / "evaluator"))
        reader = classifier(folder / "router")
    config = reader.model.config
    route = CheckpointRouter(reader, [config.id2label[n] for n in range(config.num_labels)])
    together, alone, routes = list[float](), list[float](), list[list[float]]()
    for n in range(0, len(texts), PASSAGES):
        question, of_question = asked[n][0], texts[n : n + PASSAGES]
        together += judge(question, of_question)
        alone.append(judge(question, of_question[:1])[0])
    for question, _ in asked:
        routes.append(list(route(question).values()))
    return {
        "scores": np.array(together),
        "alone": np.array(alone),
        "routes": np.array(routes),
        f"pairs, batches of {BATCH}": BATCH / timed(lambda: judge(asked[0][0], texts[-BATCH:])),
        "questions routed": 1 / timed(lambda: route(asked[0][0])),
    }


def compared(on_cpu: Figures, there: Figures) -> Figures:
    """Return the differences of the judgements of two devices."""
    same = on_cpu["routes"].argmax(axis=1) == there["routes"].argmax(axis=1)
    first = there["scores"][::PASSAGES]
    return {
        "scores of an evaluator": float(np.abs(on_cpu["scores"] - there["scores"]).max()),
        "probabilities of a router": float(np.abs(on_cpu["routes"] - there["routes"]).max()),
        "same label": float(same.mean()),
        "a pair alone and in a batch": float(np.abs(first - there["alone"]).max()),
    }


def heard(model: str, file: Path | None, device: str) -> Figures:
    """Return the text that a Whisper model hears, and its seconds; or why it failed."""
    from ragweave.models.asr_whisper import Whisper

    sound = np.random.default_rng(1).integers(-3_000, 3_000, 16_000 * WINDOW).astype(np.int16)
    if file:
        with wave.open(str(file)) as opened_file:
            sound = np.frombuffer(opened_file.readframes(16_000 * WINDOW), dtype=np.int16)
    try:
        with on(device):
            whisper = Whisper(model)
            text = whisper.transcribe(sound, "en").text
        return {"text": text, "seconds": timed(lambda: whisper.transcribe(sound, "en"))}
    except RagweaveError as error:
        return {"failed": str(error)}


def without_room(folder: Path, device: str, is_tiny: bool) -> str:
    """Return what a user reads if a model does not fit into the memory of the GPU."""
    import torch

    if device == "cpu" or is_tiny:
        return "not checked on a CPU, nor with a tiny model, which fits into what torch keeps in reserve"
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(LEAST_MEMORY)
    try:
        with on(device):
            classifier(folder / "evaluator")
    except RagweaveError as error:
        return str(error)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    return "a model was loaded, although the memory is full"


def measure(base: Path | None, device: str, speech: str, sound: Path | None) -> Figures:
    """Compare a device with the CPU.

    Raises:
        ModelError: torch does not see the device.
    """
    torch, transformers = torch_and_transformers("measuring a device")
    with on(device):
        place, said = torch_device(torch), places()
    texts = passages(questions()[:TEXTS])
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        is_tiny = base is None
        base = base or tiny(folder / "tiny")
        trained = trainings(base, folder, device)
        plain = [passage.text for passage in texts]
        (ours, our_speed), (theirs, their_speed) = vectors(base, "cpu", plain), vectors(base, device, plain)
        here, there = judgements(folder, "cpu", texts), judgements(folder, device, texts)
        room = without_room(folder, device, is_tiny)
    ratios = {f"texts, batch of {size}": their_speed[size] / our_speed[size] for size in our_speed}
    for name, value in here.items():
        if isinstance(value, float):
            ratios[name] = there[name] / value
    return {
        "device": said,
        "versions": f"torch {torch.__version__}, transformers {transformers.__version__}",
        "processor threads": torch.get_num_threads(),
        "base": base.name,
        "encoders compute in": str(encoding_type(torch, place)).removeprefix("torch."),
        "vectors": likeness(ours, theirs),
        "differences": compared(here, there),
        "trained": trained,
        "times as fast": ratios,
        "texts a second": their_speed,
        "speech": {place: heard(speech, sound, place) for place in ("cpu", device)} if speech else {},
        "memory is full": room,
    }


def report(found: Figures) -> str:
    """Return the figures as lines."""
    lines = [found["device"], f"{found['versions']}, {found['processor threads']} threads of a CPU", ""]
    lines.append(f"from {found['base']}: the GPU against the CPU")
    near = found["vectors"]
    lines.append(f"  vectors in {found['encoders compute in']}: least cosine {near['least cosine']:.5f},")
    lines.append(f"    {100 * near['same neighbour']:.1f} % of the texts have the same nearest text")
    for name, value in found["differences"].items():
        shown = f"{100 * value:.1f} %" if name.startswith("same") else f"at most {value:.1e} apart"
        lines.append(f"  {name}: {shown}")
    lines += ["", f"{'trained':34} {'seconds':>8} {'held-out loss':>14} {'accuracy or AUC':>16}"]
    for name, figures in found["trained"].items():
        right = figures.get("accuracy_micro", figures.get("auc", 0.0))
        lines.append(f"{name:34} {figures['seconds']:8.1f} {figures['loss']:14.3f} {right:16.3f}")
    lines += ["", "times as fast as the CPU"]
    for name, ratio in found["times as fast"].items():
        lines.append(f"  {name:32} {ratio:8.1f}")
    for place, figures in found["speech"].items():
        what = figures.get("failed") or f"{figures['seconds']:.1f} s, {figures['text']!r}"
        lines.append(f"speech on {place}: {what}")
    return "\n".join([*lines, "", f"If a model finds no room: {found['memory is full']}"])


def main() -> None:
    """Measure, or print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("report")
    measuring = commands.add_parser("measure")
    measuring.add_argument("--base", type=Path, help="folder of an encoder; default: a tiny one")
    measuring.add_argument("--device", default="cuda", help="as RAGWEAVE_DEVICE")
    measuring.add_argument("--speech", default="", help="folder of a Whisper model of CTranslate2")
    measuring.add_argument("--sound", type=Path, help="WAV of 16 kHz, one channel; default: noise")
    measuring.add_argument("--keep", action="store_true", help="keep the figures as the record")
    given = parser.parse_args()
    if given.command == "measure":
        try:
            found = measure(given.base, given.device, given.speech, given.sound)
        except RagweaveError as error:
            parser.error(str(error))
        if given.keep:
            RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(report(found))
        return
    if not RECORD.is_file():
        parser.error(f"there is no record at {RECORD.name}; measure first")
    print(report(json.loads(RECORD.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
