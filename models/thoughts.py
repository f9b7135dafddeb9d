"""Separate the thoughts of a model from its answer by tags and channels.

Servers parse only a few of the templates of models. So a reply may hold `<think>`, `[THINK]`, channels of
harmony, a closing tag whose opening tag was part of the prompt, or special tokens between turns.
"""

from __future__ import annotations

import re
from typing import Literal

from ragweave.models.reply_phrases import PHRASES, may_open
from ragweave.models.reply_tags import (
    AGAIN,
    ANSWERS,
    ASKERS,
    BEGUN,
    FORMS,
    LONGEST_CODE,
    LONGEST_TAG,
    OTHERS,
    OURS,
    TAG,
    Tag,
    tag_of,
    thinks,
)
from ragweave.models.thought_context import Inside, answer_at, is_invented, is_mention, may_be_thought_line

_FEW = 60
"""Most characters of text before a thought or an answer that is ignored: “Okay.”, the name of a role."""


class ThoughtReader:
    """Read a reply while it arrives and return the text of its answer.

    A closing tag without an opening tag means that all text before it was a thought. While `holds`, no text
    is returned and such text is dropped. After `release`, text is returned at once and never taken back. The
    result does not depend on the parts in which a reply arrives.

    Attributes:
        holds: whether the text waits.
        broke: whether a tag closed a thought that was not open, or an answer began after other text.
    """

    def __init__(self, holds: bool = True) -> None:
        self.holds, self.broke = holds, False
        self._pending = self._ready = self._wrapped = ""
        self._given = 0
        self._inside: Inside | None = None
        self._fenced = self._spoken = self._answers = self._over = self._done = False
        self._expects: Literal["", "role", "channel", "thought"] = ""
        self._head, self._trims, self._last = True, True, "\n"

    @property
    def waiting(self) -> str:
        """The text that was read and not returned yet."""
        return self._ready[self._given :]

    def add(self, part: str) -> str:
        """Read a part; return the text of the answer that was not returned before."""
        self._pending += part
        while self._pending and self._step():
            pass
        return "" if self.holds else self._take()

    def release(self) -> str:
        """Return the held text, and hold no more."""
        self.holds = False
        return self._take()

    def rest(self) -> str:
        """Return the rest of the answer at the end of the reply."""
        while self._pending and self._step(ended=True):
            pass
        if self._inside is not None:
            self._unclosed(self._inside)
        if self._wrapped and not self._spoken:
            self._say(self._wrapped.strip())
        return self._take()

    def _take(self) -> str:
        # Keep the returned text, because the meaning of later tags depends on it, such as on a code fence.
        ready, self._given = self._ready[self._given :], len(self._ready)
        return ready

    def _step(self, ended: bool = False) -> bool:
        """Read one step; return False if more text is needed."""
        if self._done:
            self._pending = ""
            return False
        if self._over and not self._again():
            return False
        if self._expects:
            return self._named(ended)
        if self._inside is not None:
            return self._think(self._inside, ended)
        if self._head and not self._opened(ended):
            return bool(self._inside)
        return self._text(ended)

    def _again(self) -> bool:
        """Skip the text after a turn; return True if another turn begins, which may be the model's."""
        found = AGAIN.search(self._pending)
        at = max(0, len(self._pending) - LONGEST_TAG) if found is None else found.start()
        self._pending = self._pending[at:]
        self._over = found is None
        return found is not None

    def _opened(self, ended: bool) -> bool:
        """Return whether the head of the reply is certainly no phrase that opens a thought."""
        self._pending = self._pending.lstrip()
        for phrase in PHRASES:
            found = phrase.opens.match(self._pending)
            if found:
                if found.end() == len(self._pending) and not ended:
                    return False
                until = phrase.until_alike(found.group())
                self._inside = Inside("phrase", "", found.group(), phrase.stays, until, phrase.until)
                self._pending, self._head = self._pending[found.end() :], False
                return False
        if not ended and may_open(self._pending):
            return False
        self._head = False
        return True

    def _text(self, ended: bool) -> bool:
        """Read text up to the next tag."""
        found, begun = TAG.search(self._pending), None
        if not ended:
            begun = BEGUN.search(self._pending, max(0, len(self._pending) - LONGEST_CODE))
        open_at = len(self._pending) if begun is None else begun.start()
        # The meaning of a tag may depend on the next character: a space, a line end, a link, a longer fence.
        waits = found is not None and found.end() == len(self._pending) and not (ended or found["code"])
        if found is None or waits or open_at < found.start():
            at = open_at if found is None else min(open_at, found.start())
            text, self._pending = self._pending[:at], self._pending[at:]
            self._say(text)
            return False
        self._say(self._pending[: found.start()])
        self._pending = self._pending[found.end() :]
        if found["fence"]:
            self._fenced = not self._fenced
            self._say(found.group())
        elif found["turn"] and self._spoken and not self._fenced and is_invented(self._ready):
            self._done = True
        elif found["code"] or found["turn"] or (self._fenced and tag_of(found)[::2] != ("thought", True)):
            self._say(found.group())
        else:
            self._tag(tag_of(found), found.group())
        return True

    def _tag(self, tag: Tag, raw: str) -> None:
        alone = self._last in "\n" and self._pending[:1] in ("", "\n", "\r")
        inline = self._last not in "\n" and self._pending[:1] == " " and self._spoken
        if tag.bracket and tag.kind == "special":
            inline = self._spoken and self._pending.strip() != "" and tag.name not in ("inst", "cite")
        if tag.kind == "thought":
            self._thought(tag, raw)
        elif tag.kind == "channel":
            self._expects = "" if tag.closes else "channel"
        elif tag.kind in ("turn", "role", "end", "special"):
            self._turn(tag, raw, inline)
        elif tag.kind == "answer":
            self._answer(tag, raw, inline)
        elif raw != "<s>" or self._spoken:  # It begins a reply; elsewhere it strikes text out.
            self._other(tag, raw, alone)

    def _other(self, tag: Tag, raw: str, alone: bool) -> None:
        """Read a tag of HTML, or one with an unknown name that may be around a thought."""
        unknown = tag.kind == "unknown"
        if unknown and not tag.closes and not self._spoken and not self._ready.strip():
            self._open("pair", tag.name, raw, False)
        elif unknown and tag.closes and alone and f"<{tag.name}" not in self._ready:
            self._break()
        else:
            self._say(raw)

    def _thought(self, tag: Tag, raw: str) -> None:
        """Read a tag of a thought; within a sentence it is a mention."""
        begins_line = self._last in "\n" or not self._spoken
        if tag.closes and ((tag.bracket and raw[0] != "[") or f"<{tag.name}" in self._ready):
            self._say(raw)
        elif tag.closes:
            self._break()
        elif is_mention(self._ready, self._pending[:1]) or (tag.bracket and not begins_line):
            self._say(raw)
        else:
            self._open("thought", tag.name, raw, inline=tag.bracket and raw != raw.upper())

    def _turn(self, tag: Tag, raw: str, inline: bool) -> None:
        """Read a token between turns; invented turns of others after the model's turn are no answer."""
        if inline:
            self._say(raw)
        elif tag.kind == "turn":
            self._expects = "" if tag.closes else "role"
        elif tag.kind == "end":
            self._over = self._spoken
        elif tag.name in OTHERS or (tag.name == "inst" and not tag.closes):
            self._done = self._spoken
            if not self._spoken and tag.name in ("inst", *ASKERS):
                self._open("channel", tag.name, raw, False)
        elif tag.kind == "special" and not self._spoken:
            self._expects = "thought"

    def _answer(self, tag: Tag, raw: str, inline: bool) -> None:
        """Read a tag around an answer; the text before it is no answer unless it is a label."""
        mentioned = is_mention(self._ready, self._pending[:1]) and not raw.startswith(("<|", "<｜"))
        if not tag.closes and (mentioned or (tag.bracket and self._last not in "\n" and self._spoken)):
            self._say(raw)
            return
        if tag.closes:
            if not self._answers and "answer" not in tag.name and not raw.startswith(("<|", "<｜")):
                self._say(raw)
        elif raw.startswith(("<|", "<｜")) and self._spoken and not inline:
            self._answers = True
            self._break()
        elif self._last in "\n" or not self._spoken:
            self._answers = True
            if len(self._ready.strip()) > _FEW:
                self._break()
        elif "answer" in tag.name:
            self._answers = True
        else:
            self._say(raw)

    def _open(self, kind: Literal["thought", "channel", "pair"], name: str, raw: str, inline: bool) -> None:
        if kind != "pair" and self.holds and len(self._ready.strip()) < _FEW and "[" not in self._ready:
            self._forget()
        self._inside = Inside(kind, name, raw, inline)

    def _break(self) -> None:
        """Treat the text so far as a thought."""
        self.broke = True
        if self.holds:
            self._forget()
        self._trims, self._fenced = True, False

    def _forget(self) -> None:
        self._ready, self._given, self._wrapped, self._spoken, self._last = "", 0, "", False, "\n"

    def _named(self, ended: bool) -> bool:
        """Read the name of a channel or a role after its token."""
        expects, form = self._expects, FORMS[self._expects]
        found = form.match(self._pending)
        if found is None:
            waits = len(self._pending) < LONGEST_TAG
            if expects == "thought":
                waits = may_be_thought_line(self._pending.lstrip())
            if waits and not ended:
                return False
            self._expects = ""
            return True
        self._expects, self._pending = "", self._pending[found.end() :]
        if expects == "channel":
            self._channel(found["name"] or "final")
        elif expects == "thought":
            self._open("channel", "thought", "", False)
        else:
            self._role(found["role"].lower())
        return True

    def _role(self, name: str) -> None:
        self._done = name in OTHERS and self._spoken
        self._trims = True
        if thinks(name):
            self._open("channel", name, "", False)
        elif ANSWERS.search(name) and self._spoken:
            self._break()

    def _channel(self, name: str) -> None:
        if ANSWERS.search(name) or name in OURS:
            if self._ready.strip():
                self._break()
            self._trims = True
        else:
            self._open("channel", name, "", False)

    def _think(self, inside: Inside, ended: bool) -> bool:
        """Read within a thought up to its end."""
        if inside.until is not None:
            found = inside.until.search(self._pending, max(0, inside.searched - LONGEST_TAG))
            inside.searched = len(self._pending)
            if found is None and ended and inside.otherwise is not None:
                found = inside.otherwise.search(self._pending)
            if found is None:
                return False
            self._inside, self._pending, self._trims = None, self._pending[found.end() :], True
            return True
        read = 0
        for found in TAG.finditer(self._pending):
            if self._begun(read, ended) <= found.start():
                break
            read = found.end()
            if found["fence"] or found["code"] or found["turn"]:
                continue
            tag = tag_of(found)
            if tag.kind in inside.ends:
                at = found.end() if tag.closes or tag.kind in ("end", "special") else found.start()
                self._inside, self._trims, self._pending = None, True, self._pending[at:]
                return True
            if tag.closes and (tag.name == inside.name or inside.kind == tag.kind == "thought"):
                self._close(inside, self._pending[: found.start()], found)
                return True
        read = max(read, min(self._begun(read, ended), len(self._pending) - LONGEST_TAG))
        inside.raw, self._pending = inside.raw + self._pending[:read], self._pending[read:]
        return False

    def _begun(self, read: int, ended: bool) -> int:
        """Return the start of an incomplete tag or code, or the length of the text."""
        begun = None if ended else BEGUN.search(self._pending, max(read, len(self._pending) - LONGEST_CODE))
        return len(self._pending) if begun is None else begun.start()

    def _close(self, inside: Inside, text: str, found: re.Match[str]) -> None:
        self._inside, self._pending = None, self._pending[found.end() :]
        if inside.kind == "pair":
            inner = (inside.raw + text).split(">", 1)[-1] if ">" in inside.raw else inside.raw + text
            if "<" in inner:
                self._say(inside.raw + text + found.group())
                return
            self._wrapped = inner
        self._trims = True

    def _unclosed(self, inside: Inside) -> None:
        """Resolve an open tag at the end: a mention of a tag is text, a thought that was cut off is not."""
        whole = inside.raw + self._pending
        self._inside, self._pending = None, ""
        at = None if inside.kind == "pair" else answer_at(whole)
        if at is not None:
            self._trims = True
            self._say(TAG.sub("", whole[at:]))
        elif inside.kind == "pair" or inside.inline:
            self._say(whole)

    def _say(self, text: str) -> None:
        if self._trims:
            text = text.lstrip()
        if not text:
            return
        self._trims, self._wrapped = False, ""
        self._ready += text
        self._spoken = self._spoken or bool(text.strip())
        self._last = text[-1]


def answer_in(text: str) -> str:
    """Return the answer in a whole reply, without thoughts and special tokens."""
    reader = ThoughtReader()
    reader.add(text)
    return reader.rest().strip()
