"""What was said before the turn that is answered: in the state, or in the messages alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from ragweave.minds.attached import attached, with_words, words_in
from ragweave.minds.contracts import Said
from ragweave.minds.small.core import core
from ragweave.minds.small.question.greeting import is_greeting
from ragweave.minds.small.question.refer import follow
from ragweave.nodes.answer import Answer
from ragweave.nodes.state import State


def said_before(state: State, history: Sequence[AnyMessage]) -> Said:
    """Return the last question that was one, and its answer; thanks in between change nothing.

    A server that keeps threads in its own way hands the last answer back as a dict; a door that keeps none has the
    messages alone, whose questions are made to stand by themselves one after the other.
    """
    if (last := state.get("answer")) is not None:
        answer = Answer.model_validate(last)
        if not is_greeting(answer.question):
            if answer.abstained:
                # What was only the closest names nothing that a pronoun could stand for.
                return Said(answer.question)
            told = answer.sentences[0].text if answer.sentences else ""
            return Said(answer.question, told, answer.citations[0].title if answer.citations else "")
    if kept := state.get("said"):
        return Said(**kept)
    before = Said("")
    for m in history:
        if isinstance(m, HumanMessage) and not is_greeting(m.text):
            asked = core(m.text)
            alone = asked.question if asked.fresh else follow(asked.question, before, asked.onward)
            before = Said(with_words(alone, words_in(attached(m))))
        elif isinstance(m, AIMessage) and before.question and not before.answer:
            before = before._replace(answer=re.sub(r"\s*\[\d+\]", "", m.text))
    return before
