"""Name the kind of each note of a run, by which the page shows it in the language of its reader.

Notes are sentences in English wherever they arise. `coded` finds the form of a sentence in `NOTES`, and with
it a key and the values in the form. A test holds `NOTES` to the notes in the code.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ragweave.components.check import FAILED as CONTROLS_FAILED
from ragweave.components.check import UNREAD
from ragweave.components.marking import DOWN
from ragweave.components.phrases import (
    EMPTY,
    FEW,
    NOTHING,
    QUOTED,
    SET_UP,
    UNCHECKED,
    UNSUPPORTED,
    WITHHELD,
)  # fmt: skip
from ragweave.components.prose import LEFT

NOTES = {
    "library_empty": EMPTY,
    "nothing_found": NOTHING,
    "all_withheld": UNSUPPORTED,
    "quoted": QUOTED,
    "quoted_set_up": f"{QUOTED} {SET_UP}",
    "withheld": WITHHELD,
    "unchecked": UNCHECKED,
    "check_controls": CONTROLS_FAILED,
    "check_unread": UNREAD,
    "check_exam": f"{DOWN.format(why='{why}')}. To have them checked, {{remedy}}.",
    "check_down": DOWN,
    "check_too_long": "The answer and its passages are longer than the checking model reads at once, so"
    " nothing is marked.",
    "published": "As {preset} was published, but for: {parts}.",
    "left": LEFT,
    "limit": "A limit of this run was reached: {limit}.",
    "cut_short": "The answer was cut short: {error}",
    "no_usable_answer": "The chat model gave no answer that can be used; what is shown is quoted from"
    " the library.",
    "step_unread": "In one step the model's reply could not be read; that step was taken without it.",
    "window": "{model} reads {tokens} tokens at once, so a prompt was cut: {parts}.",
    "prompt_read_in_part": "{model} read only {read} of about {sent} tokens of a prompt: the answer"
    " rests on a part of what was found. The next prompt is cut to fit.",
    "documents_in_part": "The model reads little at once, so documents were shown to it in part.",
    "no_rounds": "Nothing was searched: this run allows no round of retrieval (max_hops is 0).",
    "corpus_empty": "The library holds nothing in its {corpus} corpus.",
    "corpus_failed": "The {corpus} corpus could not be searched: {error}",
    "corpus_note": "The {corpus} corpus: {note}.",
    "no_recordings": "The library holds no recordings; index a video, a sound file or a transcript with"
    " times.",
    "clips_failed": "The retriever {name} of the recordings failed: {error}",
    "rerank_failed": "The reranker was not used: {error}",
    "folder_empty": "Nothing in this library lies in {folder}.",
    "no_source_at_all": "There is no source “{name}” in this library, which holds none.",
    "no_source": "There is no source “{name}” in this library; it holds {names}.",
    "consent_unclear": "The reply {reply} to the question for consent is neither yes nor no: no.",
    "web_declined": "The web was not searched: you declined it.",
    "web_no_consent": "The web was not searched: this run cannot ask for consent.",
    "web_impossible": "The web was not searched: {why}",
    "web_failed": "The web search failed: {error}",
    "clip_gone": "A clip of “{title}” could not be looked at: its frames are gone.",
    "looked_in_part": "Not everything was looked at: {error}",
    "pictures_refused": "Pictures could not be shown to {model}: {error}",
    "not_looked_at": "{what} could not be looked at: {error}",
    "picture_words": "The words in what was sent as a picture were searched with the question: “{words}”",
    "picture_read_as": "With what was sent as a picture, the question was read as: “{question}”",
    "picture_unused": "The picture changed nothing: {reason}, and looking at it takes a vision model"
    " (RAGWEAVE_VISION).",
    "beside_text": "What was sent beside the text was not looked at; `ragweave serve` takes pictures"
    " with a question.",
    "picture_not_used": "A picture of the question was not used: {error}",
    "unused": "Not used of what was sent: {items}.",
    "references": "Not stored here, and not used: {names}. Send the whole conversation in input.",
    "response_not_held": "The response “{id}” is not held here, so what was said before it was not used.",
    "file_not_held": "The file “{name}” of an earlier turn is not held any more: send it again.",
    "file_unread": "The file “{name}” was not read: {error}",
    "file_cut": "Of the file “{name}” only the first {most} of {all} passages are asked.",
    "file_warning": "Of the file “{name}”: {warning}",
    "step_failed": "{step}: {error}",
    "files_cut": "Only the last {most} of {all} files that were sent were read.",
}
"""The form of each note, and of each reason for no answer, by its key, with slots for values.

Of forms that fit one sentence, the first counts.
"""
ITEMS = {
    "tool_reply": "a reply of a tool",
    "tool_call": "a call of a tool",
    "tool_part": "a call or reply of a tool",
    "reference": "an answer that is named by its id and not sent",
    "unreadable_message": "a message that cannot be read",
    "no_role": "a message without a role",
    "other_role": "a message of another role",
    "after_question": "a message behind the last question",
    "earlier_message": "an earlier message",
    "refusal": "a refusal",
    "thoughts": "the thoughts of a model",
    "recording": "a recording",
    "video": "a video",
    "picture_address": "a picture that is damaged or only an address",
    "pictures_over": "a picture after the first {most}",
    "file_not_sent": "a file whose content was not sent (index it into the library and ask again)",
    "file_damaged": "a file that is empty or not Base64 (index it into the library and ask again)",
    "unreadable_part": "a part that cannot be read",
    "other_part": "a part of another kind",
}
"""What a note of the key `unused` may list."""
_SLOT = re.compile(r"\{(\w+)\}")
_WORDS = {"step": r"\w+"}
"""Patterns of the slots that hold no arbitrary text."""
_TIMES = re.compile(r" \((\d+) times\)$")


@cache
def _patterns(kind: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the keys with the patterns of the sentences of `NOTES`, or of the descriptions of `ITEMS`."""
    patterns = []
    for key, form in (NOTES if kind == "note" else ITEMS).items():
        texts = _SLOT.split(form)  # text, slot, text, slot, ..., text
        pattern = ""
        for n, text in enumerate(texts):
            if n % 2:
                pattern += f"(?P<{text}>{_WORDS.get(text, '.+?')})"
            else:
                pattern += re.escape(text)
        patterns.append((key, re.compile(pattern, re.S)))
    return patterns


def _matched(text: str, kind: str) -> dict[str, Any]:
    for key, pattern in _patterns(kind):
        found = pattern.fullmatch(text)
        if found is not None:
            return {"text": text, "key": key, "values": found.groupdict()}
    return {"text": text, "key": "", "values": {}}


def coded(note: str) -> dict[str, Any]:
    """Return a note as its text, its key, and the values in it; the key of an unknown one is ""."""
    found = _matched(note, "note")
    if found["key"] == "unused":
        found["values"]["items"] = [_item(item) for item in found["values"]["items"].split(", ")]
    return found


def _item(item: str) -> dict[str, Any]:
    """Return what was not used, with its key and how often it came."""
    times = _TIMES.search(item)
    return {**_matched(_TIMES.sub("", item), "item"), "n": int(times[1]) if times else 1}


def with_key(sentence: dict[str, Any]) -> dict[str, Any]:
    """Return a sentence of an answer, with a key if it is one of ours that the page translates."""
    return {**sentence, "key": "few"} if sentence["text"] == FEW else sentence
