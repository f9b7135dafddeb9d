"""Thoughts in any dress are told from the answer, wherever a reply is cut, and other text stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragweave.models.thoughts import ThoughtReader, answer_in

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
