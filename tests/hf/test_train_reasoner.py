"""A tiny random chat model learns to iterate: data, tuning, files, and its turns as the agent reads them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.app import cli
from ragweave.components.turn import read_turn

pytestmark = pytest.mark.hf
pytest.importorskip("trl", reason="the extra hf is not installed; `make test-hf` runs these tests")

PLAIN = (
    "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)
FORGETS = (
    "{% for m in messages %}<{{ m['role'] }}> {% if m['role'] == 'assistant' and loop.last %}<think> {% endif"
    " %}{{ m['content'] }} <end> {% endfor %}{% if add_generation_prompt %}<assistant> {% endif %}"
)
TOPICS = ("moon", "bread", "ferry", "tower", "mill", "tea", "wreck", "garden", "dome", "lens")
PLACES = ("pell", "norway", "lorne", "corvane")


def talk(n: int) -> dict[str, Any]:
    """One conversation, in the form that `ragweave synthesize` writes."""
    topic, place = TOPICS[n % len(TOPICS)], PLACES[n % len(PLACES)]
    said = [
        ("system", "find out"),
        ("user", f"Question: where is the {topic}"),
        ("assistant", f"Query: {topic}"),
        ("user", f"Document_1 the {topic} is in {place}"),
        ("assistant", f"Final Answer: {place}"),
    ]
    return {
        "id": str(n),
        "messages": [{"role": r, "content": c} for r, c in said],
        "answers": [place],
        "hops": 1,
    }


def tokenizer_of(template: str) -> Any:
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<unk>", "<end>", "<system>", "<user>", "<assistant>", "<think>"]
    known = {w for n in range(40) for m in talk(n)["messages"] for w in m["content"].split()}
    made = Tokenizer(WordLevel({w: i for i, w in enumerate([*special, *sorted(known)])}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    out = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", eos_token="<end>"
    )
    out.chat_template = template
    return out


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, tiny: SimpleNamespace) -> Path:
    """A tiny random Llama with a chat template that only appends."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = tokenizer_of(PLAIN)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=256, pad_token_id=0, eos_token_id=2, bos_token_id=None,
        initializer_range=0.3,
    )  # fmt: skip
    torch.manual_seed(0)
    return Path(
        tiny.save(tmp_path_factory.mktemp("base") / "tiny-llama", LlamaForCausalLM(config), tokenizer)
    )


@pytest.fixture(scope="module")
def data(write: Any) -> Path:
    return Path(write([talk(n) for n in range(40)], "talks.jsonl"))


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory, base: Path, data: Path) -> Path:
    """The tiny model after tuning, merged, by the command line."""
    out = tmp_path_factory.mktemp("tuned") / "iterating"
    options = ["--data", str(data), "--base", str(base), "--out", str(out), "--merge", "--licence", "CC0"]
    assert cli.main(["train", "reasoner", *options, "--epochs", "30", "--batch", "4", "--rate", "0.005"]) == 0
    return out


def answer(folder: Path, messages: list[dict[str, str]]) -> str:
    """Let a tuned model take its turn, greedily."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, use_safetensors=True).eval()
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    read = tokenizer(text, add_special_tokens=False, return_tensors="pt", return_token_type_ids=False)
    with torch.inference_mode():
        made = model.generate(**read, max_new_tokens=12, do_sample=False)
    return str(tokenizer.decode(made[0][read["input_ids"].shape[1] :], skip_special_tokens=True))


def test_the_tuned_model_takes_turns_that_the_agent_reads(tuned: Path) -> None:
    said = talk(3)["messages"]
    asks, ends = read_turn(answer(tuned, said[:2])), read_turn(answer(tuned, said[:4]))
    assert asks is not None and (asks.queries, asks.enough) == (["tower"], False)
    assert ends is not None and (ends.answer, ends.enough) == ("corvane", True)


def test_what_is_written_holds_no_pickle_and_carries_its_card(tuned: Path) -> None:
    names = {p.name for p in tuned.rglob("*")}
    assert "model.safetensors" in names and "tokenizer.json" in names
    assert not any(n.endswith((".bin", ".pt", ".pth", ".pkl")) for n in names)
    card = json.loads((tuned / "ragweave.json").read_text(encoding="utf-8"))
    assert card["task"] == "reasoner"
    figures = card["card"]["figures"]
    assert figures["conversations"] == 36 and figures["too_long"] == 0
    assert figures["loss"] < figures["loss_before"] / 2
    assert "held-out conversations" in (tuned / "README.md").read_text(encoding="utf-8")


def test_an_adapter_alone_is_small_and_opens_on_its_base(base: Path, data: Path, tmp_path: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    from ragweave.evals.train_reasoner import Tuning, train_reasoner

    told: list[tuple[int, int, str]] = []
    train_reasoner(
        data, str(base), tmp_path / "out", Tuning(epochs=1), progress=lambda *step: told.append(step)
    )
    assert not (tmp_path / "out" / "model.safetensors").exists()
    PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), tmp_path / "out")
    assert str(base.parent) not in (tmp_path / "out" / "adapter_config.json").read_text(encoding="utf-8")
    assert [done for done, _, _ in told] == list(range(1, told[-1][1] + 1))


def test_the_loss_counts_the_assistants_turns_and_nothing_else() -> None:
    from ragweave.evals.train_reasoner import IGNORED, examples

    tokenizer = tokenizer_of(PLAIN)
    (row,) = examples(tokenizer, talk(0)["messages"], 100, "it")
    learnt = [i for i, label in zip(row["input_ids"], row["labels"], strict=True) if label != IGNORED]
    assert tokenizer.decode(learnt).split() == "Query: moon <end> Final Answer: pell <end>".split()
    assert tokenizer.decode(row["input_ids"]).split()[:3] == ["<system>", "find", "out"]


def test_a_template_that_forgets_gives_a_row_for_each_turn_as_inference_sees_it() -> None:
    from ragweave.evals.train_reasoner import IGNORED, examples

    tokenizer = tokenizer_of(FORGETS)
    rows = examples(tokenizer, talk(0)["messages"], 100, "it")
    learnt = [
        tokenizer.decode(
            [i for i, label in zip(r["input_ids"], r["labels"], strict=True) if label != IGNORED]
        )
        for r in rows
    ]
    assert learnt == ["<think> Query: moon <end>", "<think> Final Answer: pell <end>"]
