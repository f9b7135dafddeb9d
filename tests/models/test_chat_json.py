from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from pydantic import BaseModel, Field

from ragweave.models.chat_json import read_json
from ragweave.models.chat_reply import ChatReply, read_label, without_thoughts
from ragweave.models.thoughts import ThoughtReader, answer_in


class Grade(BaseModel):
    verdict: str
    score: float = 0.0


class Queries(BaseModel):
    queries: list[str] = Field(min_length=1)


LABELS = ("correct", "incorrect", "ambiguous", "video", "video_clip")


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("correct", "correct"),
        ("**INCORRECT**", "incorrect"),
        ("The verdict is: ambiguous, because the passage is thin.", "ambiguous"),
        ('{"label": "incorrect"}', "incorrect"),
        ("It could be correct or incorrect.\nVerdict: incorrect", "incorrect"),
        ("<think>correct? no, incorrect.</think>\nambiguous", "ambiguous"),
        ("correct or incorrect", None),
        ("This is not correct.", None),
        ("not correct but ambiguous", "ambiguous"),
        ("a video clip, not a video", "video_clip"),
        ("correctness", None),
        ("正确", None),
        ("x" * 100_000, None),
    ],
)
def test_a_label_is_found_in_what_models_write_around_it(reply: str, label: str | None) -> None:
    assert read_label(reply, LABELS) == label


@given(st.text(max_size=300))
def test_any_text_reads_as_one_of_the_labels_or_none(text: str) -> None:
    assert read_label(text, LABELS) in (*LABELS, None)


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"verdict": "yes", "score": 0.5}\n```',
        'Sure! Here it is:\n\n{"verdict": "yes", "score": 0.5}\n\nAnything else?',
        '{"verdict": "yes", "score": 0.5,}',
        '<think>{"verdict": "no"}</think>{"verdict": "yes", "score": 0.5}',
        'The schema {"type": "object"} asks for this: {"verdict": "yes", "score": 0.5}',
        'Not [this] but {"verdict": "yes", "score": 0.5} and not {this}',
        '[{"verdict": "yes", "score": 0.5}]',
    ],
)
def test_json_is_found_in_whatever_wrapping(reply: str) -> None:
    assert read_json(reply, Grade) == Grade(verdict="yes", score=0.5)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        '{"verdict": "ye',
        "{" * 40_000,
        "[" * 40_000 + "]" * 40_000,
        '{"a":' * 20_000,
        ",}" * 20_000,
        "<html><body>502 Bad Gateway</body></html>",
        '{"verdict": "yes", "score": NaN}',
    ],
)
def test_what_holds_no_fitting_json_reads_as_none(reply: str) -> None:
    assert read_json(reply, Grade) is None


def test_a_bare_list_fits_a_schema_with_one_field_and_half_an_emoji_becomes_printable() -> None:
    assert read_json('["a", "b"]', Queries) == Queries(queries=["a", "b"])
    assert read_json('{"verdict": "\\ud83d, \\ud83d\\ude00"}', Grade) == Grade(verdict="?, 😀")


@given(st.text(max_size=200))
def test_any_text_is_survived(text: str) -> None:
    found = read_json(text, Queries)
    assert found is None or found.queries


@given(
    st.lists(st.text(max_size=20), min_size=1, max_size=4),
    st.sampled_from(["{}", "```json\n{}\n```", "Here: {} ."]),
)
def test_what_was_written_is_read_back(queries: list[str], frame: str) -> None:
    written = json.dumps({"queries": queries})
    found = read_json(frame.format(written), Queries)
    assert found == Queries(queries=[q.encode("utf-8", "replace").decode() for q in queries])


@given(st.text(alphabet="ab <think/>\n", max_size=60), st.integers(1, 7))
def test_a_stream_shows_what_the_whole_text_would(text: str, width: int) -> None:
    reply = ChatReply()
    for i in range(0, len(text), width):
        reply.add(AIMessageChunk(text[i : i + width]))
    assert reply.take(ended=True).strip() == without_thoughts(text)


THOUGHT = "Document [1] says 1804, no wait.\n\nFinal Answer: maybe 1804 [1]. Hmm, no."
ANSWER = "Final Answer: The lamp was first lit on 3 October 1874 [1]."
DRESSES = {
    "leading": f"<think>{THOUGHT}</think>\n\n{ANSWER}",
    "upper case": f"<THINK>{THOUGHT}</THINK>{ANSWER}",
    "an attribute": f'<thinking effort="high">{THOUGHT}</thinking>{ANSWER}',
    "the closing tag alone": f"{THOUGHT}\n</think>\n\n{ANSWER}",
    "the closing tag in a line": f"{THOUGHT} </think> {ANSWER}",
    "another closing tag alone": f"{THOUGHT}</reasoning>{ANSWER}",
    "an unknown closing tag alone": f"{THOUGHT}\n</notepad>\n{ANSWER}",
    "square brackets": f"[THINK]{THOUGHT}[/THINK]{ANSWER}",
    "another name": f"<inner_monologue>{THOUGHT}</inner_monologue>\n{ANSWER}",
    "a name nobody knows": f"<notepad>{THOUGHT}</notepad>\n{ANSWER}",
    "two kinds": f"<think>{THOUGHT}</think>\n<reflection>{THOUGHT}</reflection>{ANSWER}",
    "a thought in a thought": f"<think>{THOUGHT}<think>{THOUGHT}</think>{ANSWER}",
    "closed by another tag": f"<think>{THOUGHT}</thinking>{ANSWER}",
    "a word before it": f"Okay. <think>{THOUGHT}</think>{ANSWER}",
    "triangles": f"◁think▷{THOUGHT}◁/think▷{ANSWER}",
    "bars": (
        f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>\n<|begin_of_solution|>{ANSWER}<|end_of_solution|>"
    ),
    "a closing word": (
        f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>"
    ),
    "names with a colon": f"<seed:think>{THOUGHT}</seed:think>{ANSWER}",
    "channels": (
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}"
    ),
    "channels and a tool": (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=f.x "
        f"<|constrain|>json<|message|>{{}}<|call|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>"
    ),
    "half tokens": f"<|channel>thought\n{THOUGHT}<channel|>{ANSWER}",
    "channels without their tokens": f"analysisWe look. {THOUGHT}assistantfinal{ANSWER}",
    "unused tokens": f"<unused94>thought\n{THOUGHT}<unused95>{ANSWER}",
    "words in place of tags": f"Here is my thought process:\n{THOUGHT}\nHere is my response:\n{ANSWER}",
    "prose before a tag of answers": f"{THOUGHT}\n<answer>{ANSWER}</answer>",
    "a folded block": f"<details>\n<summary>Thought for 3 seconds</summary>\n{THOUGHT}\n</details>\n\n{ANSWER}",
    "a folded block with a type": (
        f'<details type="reasoning" done="true">\n<summary>Thinking</summary>\n> {THOUGHT}\n</details>\n{ANSWER}'
    ),
    "a block of code": f"```thinking\n{THOUGHT}\n```\n{ANSWER}",
    "a heading": f"## Reasoning\nDocument [1] says 1804, no wait.\n\n## Answer\n{ANSWER}",
    "a label": f"**Thinking:**\nDocument [1] says 1804, no wait.\n\n**Answer:**\n{ANSWER}",
    "a label in another language": f"**Überlegung:**\nDocument [1] says 1804, no wait.\n\n**Antwort:** {ANSWER}",
    "spaces in tags": f"< think >{THOUGHT}</ think >{ANSWER}",
    "a tag that says it ends": f"<think>{THOUGHT}<end_think>{ANSWER}",
    "a thought that is empty": f"<think/>{ANSWER}",
    "a token before the answer": f"{THOUGHT}<|final|>{ANSWER}",
    "no closing tag": f"<think>{THOUGHT}<answer>{ANSWER}</answer>",
}
DEBRIS = {
    "answer tags": f"<answer>{ANSWER}</answer>",
    "an end token": f"{ANSWER}<|im_end|>",
    "an end tag": f"{ANSWER}</s>",
    "a byte": f"{ANSWER}<0x0A>",
    "wide bars": f"<｜Assistant｜>{ANSWER}<｜end▁of▁sentence｜>",
    "a role": f"<|start_header_id|>assistant<|end_header_id|>\n\n{ANSWER}<|eot_id|>",
    "a turn": f"<start_of_turn>model\n{ANSWER}<end_of_turn>",
    "instructions": f"[/INST] {ANSWER}</s>",
    "a turn of somebody else": (
        f"{ANSWER}<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\nNo."
    ),
}
PLAIN = [
    "## Reasoning\nThe lamp was lit in 1874 [1].",
    "Thinking is hard [1].\nAnswer: no [2].",
    "```python\nx = 1\n```\nAs shown [1].",
    "<details>\n<summary>The lamp</summary>\nLit in 1874 [1].\n</details>",
    "Use `</think>` to close it, and `<|im_end|>` to end [1].",
    "```xml\n<plan>\n</plan>\n```\nAs shown [1].",
    "a < b and c > d, so List<String> holds [2].",
    "[NOTE] See [think](http://x.example) [1].",
    "<b>Bold</b> and m<sup>2</sup> of H<sub>2</sub>O.",
    "<config>\n <port>1</port>\n</config>\nThat is it [1].",
    "The turn ends with <|im_end|> and no other token [1].",
    "analysis of the lamp: 1874 [1]. Here is my list: a, b.",
]


@pytest.mark.parametrize("reply", [*DRESSES.values(), *DEBRIS.values()], ids=[*DRESSES, *DEBRIS])
@pytest.mark.parametrize("width", [1, 3, 1_000])
def test_of_a_reply_the_answer_alone_is_read(reply: str, width: int) -> None:
    reader = ThoughtReader()
    for i in range(0, len(reply), width):
        reader.add(reply[i : i + width])
    assert reader.rest().strip() == ANSWER


@pytest.mark.parametrize("text", PLAIN)
def test_text_that_mentions_tags_is_left_as_it_is(text: str) -> None:
    assert answer_in(text) == text


def test_what_was_given_already_stays_and_the_reader_says_that_it_was_thought() -> None:
    reader = ThoughtReader(holds=False)
    assert reader.add("Maybe 1804. ") == "Maybe 1804. "
    assert not reader.broke
    assert reader.add("</think>It was 1874.") == "It was 1874."
    assert reader.broke


@given(st.text(alphabet=st.characters(exclude_characters="<[`＜◁⟨〈⟪", exclude_categories=["Cs"])))
def test_text_without_tags_and_code_is_unchanged(text: str) -> None:
    assert answer_in("So. " + text) == ("So. " + text).strip()


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<|im_end|>",
        "[THINK]",
        "[/THINK]",
        "<answer>",
        "</answer>",
        "<x>",
        "</x>",
        "</s>",
        "`",
        "```",
        "<|channel|>",
        "analysis",
        "<|message|>",
        "final",
        "<|start|>",
        "assistant",
        "user",
        "\n",
        " ",
        "It is. ",
        "[1]",
        "<",
        "a>",
    ]
)


@example("```<think></think><think>", 1, False)
@given(st.lists(PIECES, max_size=14).map("".join), st.integers(1, 9), st.booleans())
def test_how_a_reply_is_cut_into_parts_changes_nothing(reply: str, width: int, holds: bool) -> None:
    whole, cut = ThoughtReader(holds), ThoughtReader(holds)
    parts = [cut.add(reply[i : i + width]) for i in range(0, len(reply), width)]
    assert "".join([*parts, cut.rest()]) == whole.add(reply) + whole.rest()
