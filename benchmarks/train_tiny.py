"""Train each kind of checkpoint from tiny random weights: `python benchmarks/train_tiny.py DATA OUT [--only KIND ...]`.

Routers and evaluator learn the public rows of DATA, the reasoner conversations made by rule from its two-hop questions:
a query for each title that leads to the answer, that passage, the answer. Then each is asked held-out questions, beside
a baseline. Needs the extra `hf`. A run that is killed goes on where it was. It says what the loop does and costs,
nothing of what pretrained weights would give.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from printed import options, tell

KINDS = ("router-distilbert", "router-t5", "evaluator-t5", "reasoner")
WORDS = 4_000
"""Tokens of a vocabulary."""
TEMPLATE = "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} <end> {% endfor %}"
TEMPLATE += "{% if add_generation_prompt %}<assistant> {% endif %}"
SPECIAL = ["<pad>", "</s>", "<unk>", "[CLS]", "[SEP]", "<end>", "<system>", "<user>", "<assistant>"]
SHARE = 5
"""Every fifth question is held out."""


def write(rows: Iterable[Mapping[str, Any]], to: Path) -> Path:
    """Write JSON Lines."""
    to.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return to


def parted(rows: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the rows to learn from and those that are held out."""
    return [r for n, r in enumerate(rows) if n % SHARE], list(rows[::SHARE])


def pairs(data: Path) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the pairs of four fifths of HotpotQA's questions, and the questions that are held out."""
    from ragweave.evals.evaluator_data import hotpot

    learnt, held = parted(hotpot(data))
    return [
        {"qid": a.question, "question": a.question, "title": p.title, "passage": p.text, "label": int(n)}
        for a in learnt
        for p, n in zip(a.passages, a.labels, strict=True)
    ], held


def talks(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the conversation of each two-hop question, in the form in which `reason` converses."""
    from ragweave.components.llm.conversation import Round
    from ragweave.evals.data import read_jsonl
    from ragweave.evals.synthesize import conversation

    held = {row["title"]: row["text"] for row in read_jsonl(data / "multihop_hotpotqa" / "corpus.jsonl")}
    for row in read_jsonl(data / "multihop_hotpotqa" / "queries.jsonl"):
        past = [Round(t, "", "", ((n, t, held[t]),)) for n, t in enumerate(row["gold"], 1)]
        said = [f"{title} is to be looked up." for title in row["gold"]] + ["Nothing is missing."]
        yield {"messages": conversation(row["question"], past, said, row["answers"][0])}


def base(kind: str, texts: Iterable[str], to: Path) -> str:
    """Write a model of random weights with byte-pair tokens learnt from texts, and return its folder."""
    import torch
    import transformers as t
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    torch.manual_seed(0)
    sizes: dict[str, Any] = {"vocab_size": WORDS, "num_hidden_layers": 2, "num_attention_heads": 4}
    around, end = "$A </s>", "</s>"
    if kind == "router-distilbert":
        model, around = t.DistilBertModel(t.DistilBertConfig(dim=128, hidden_dim=256, **sizes)), "[CLS] $A [SEP]"
    elif kind == "reasoner":
        ends: dict[str, Any] = {"eos_token_id": 5, "bos_token_id": None, "pad_token_id": 0}
        model = t.LlamaForCausalLM(t.LlamaConfig(hidden_size=128, intermediate_size=256, **ends, **sizes))
        around, end = "$A", "<end>"
    else:
        model = t.T5ForConditionalGeneration(
            t.T5Config(d_model=128, d_kv=32, d_ff=256, decoder_start_token_id=0, **sizes)
        )
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
    made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=WORDS, special_tokens=SPECIAL, show_progress=False))
    special = [(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]", "</s>")]
    made.post_processor = processors.TemplateProcessing(single=around, special_tokens=special)
    reads = t.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", eos_token=end)
    reads.chat_template = TEMPLATE
    model.save_pretrained(to)
    reads.save_pretrained(to)
    return str(to)


def router(kind: str, data: Path, out: Path) -> dict[str, Any]:
    """Train a router; it is asked the held-out rows, and 240 questions of other people's making."""
    from ragweave.corpora.types import LABELS
    from ragweave.evals import train_text as text
    from ragweave.evals.data import read_jsonl, read_routed
    from ragweave.evals.router import best
    from ragweave.evals.train_router import Corpus, fit
    from ragweave.models.checkpoint import router as opened

    learnt, held = parted(read_jsonl(data / "router" / "router_dev.jsonl"))
    rows = write(learnt, out / "rows.jsonl")
    start = base(kind, [r["query"] for r in learnt], out / "base")
    shape = text.T5_ROUTER if kind == "router-t5" else text.DISTILBERT_ROUTER
    recipe = replace(shape, rate=1e-3, max_length=96)
    prompt = "Which corpus? {question}" if kind == "router-t5" else ""
    found = trained(text.train_router, rows, start, out / "done", recipe, prompt=prompt)
    ask = opened(str(out / "done"), LABELS)
    head = fit(Corpus.of(read_routed(rows, LABELS), [], LABELS))
    most = Counter(r["label"] for r in learnt).most_common(1)[0][0]
    for name, tested in (("held out", held), ("own", read_jsonl(data / "router_own" / "own_dev.jsonl"))):
        small = [head.labels[i] for i in head.probabilities([r["query"] for r in tested]).argmax(axis=1)]
        large = [best(ask(r["query"])) for r in tested]
        for who, said in (("", large), (" small head, same rows", small), (" most frequent", [most] * len(tested))):
            found[f"{name}{who}"] = sum(s == r["label"] for s, r in zip(said, tested, strict=True)) / len(tested)
    return found


def evaluator(kind: str, data: Path, out: Path) -> dict[str, Any]:
    """Train an evaluator; it is asked held-out questions of HotpotQA."""
    from ragweave.evals import train_text as text
    from ragweave.evals.pairs import measure, scorer

    rows, held = pairs(data)
    start = base(kind, [r["passage"] for r in rows] + [r["question"] for r in rows], out / "base")
    recipe = replace(text.T5_EVALUATOR, epochs=3, rate=1e-3, max_length=96)
    found = trained(text.train_evaluator, write(rows, out / "rows.jsonl"), start, out / "done", recipe)
    for name in (f"checkpoint:{out / 'done'}", "local"):
        figures = asyncio.run(measure(held, scorer(name))).figures()
        found |= {f"held out {name.partition(':')[0]} {key}": figures[key] for key in ("auc", "average_precision")}
    return found


def reasoner(kind: str, data: Path, out: Path) -> dict[str, Any]:
    """Tune a chat model; before and after, it takes the first turn on held-out questions."""
    from ragweave.evals.train_reasoner import Tuning, train_reasoner

    learnt, held = parted(list(talks(data)))
    start = base(kind, [m["content"] for r in learnt for m in r["messages"]], out / "base")
    tuning = Tuning(epochs=6, rate=5e-3, merge=True, max_length=2_048, rank=32)
    found = trained(train_reasoner, write(learnt, out / "rows.jsonl"), start, out / "done", tuning)
    for name, folder in (("before", start), ("after", str(out / "done"))):
        found |= {f"{name} {key}": share for key, share in turns(folder, held).items()}
    return found


def turns(folder: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return how many first turns the agent can read, and how many of them look for the right title."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from ragweave.components.llm.turn import read_turn

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    read = right = 0
    for row in rows:
        opening = row["messages"][:2]
        text = tokenizer.apply_chat_template(opening, tokenize=False, add_generation_prompt=True)
        given = tokenizer(text, add_special_tokens=False, return_tensors="pt", return_token_type_ids=False)
        with torch.inference_mode():
            made = model.generate(**given, max_new_tokens=40, do_sample=False)
        turn = read_turn(tokenizer.decode(made[0][given["input_ids"].shape[1] :], skip_special_tokens=True))
        wanted = read_turn(row["messages"][2]["content"])
        read += turn is not None
        right += turn is not None and wanted is not None and turn.queries == wanted.queries
    return {"turns that can be read": read / len(rows), "right first query": right / len(rows)}


def trained(train: Any, *given: Any, **more: Any) -> dict[str, Any]:
    """Train, and return the seconds, the step that was gone on from, the figures and the curve."""
    seen: list[int] = []
    began = time.monotonic()
    found = train(*given, progress=lambda done, *_: seen.append(done), **more)
    out = given[2]
    from safetensors.torch import load_file

    weights = sum(w.numel() for w in load_file(out / "model.safetensors").values())
    curve = [json.loads(line) for line in (out / "curve.jsonl").read_text(encoding="utf-8").splitlines()]
    losses = [r["loss"] for r in curve if "loss" in r]
    tenths = [losses[n * (len(losses) - 1) // 9] for n in range(10)]
    took = {"weights": weights, "steps": seen[-1], "from step": seen[0] - 1, "seconds": time.monotonic() - began}
    told = {"loss, by tenths": " ".join(f"{x:.2f}" for x in tenths)}
    held = {f"eval {k}": " ".join(f"{r[k]:.3f}" for r in curve if k in r) for k in ("eval_loss", "eval_accuracy_micro")}
    return {**took, **told, **held, **found}


def main() -> None:
    """Print the figures of each kind."""
    import torch

    torch.set_num_threads(1)
    parser = options(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", choices=KINDS, nargs="*", default=KINDS)
    given = parser.parse_args()
    found: dict[str, Any] = {}
    for kind in given.only:
        folder = given.out / kind
        folder.mkdir(parents=True, exist_ok=True)
        made = {"evaluator-t5": evaluator, "reasoner": reasoner}.get(kind, router)(kind, given.data, folder)
        found |= {f"{kind} {name}": value for name, value in made.items()}
    tell(found, given.json)


if __name__ == "__main__":
    main()
