"""Parse the templates in which chat apps wrap a user's question and files."""

from __future__ import annotations

import html
import re

from ragweave.serve.sent_file import SentFile, of_text

_FILES = re.compile(r"\A\s*<attached_files>\n.*?\n</attached_files>\s*", re.S)
"""The list of files that Open WebUI puts before a question, for models that call its tools."""
_NAME = re.compile(r"\b(?:name|title)\s*=\s*\"([^\"]*)\"")
_BEGIN, _END = "-----BEGIN FILE", "-----END FILE"
"""The lines that pydantic-ai puts around a text file."""
_ELEMENT = re.compile(r"<(file|document|attachment)\b([^>]*)>(.*?)</\1>", re.S)
"""A file as an element with a name, as LobeChat pastes it."""
_APART = re.compile(r"<!--\s*SYSTEM CONTEXT.*?<!--\s*END SYSTEM CONTEXT\s*-->", re.S)
"""What LobeChat marks as not being part of the question."""
_EMPTY = re.compile(r"<([\w.]+)[^<>]*>\s*</\1>")
_BRACKETED = re.compile(r"\[(CONTEXT|DOCUMENT|SOURCE) (\d+)\]:?\s(.*?)\[END \1 \2\]", re.S | re.I)
"""A passage between brackets with a number, as AnythingLLM adds it to the instructions."""
_QUESTION = re.compile(r"<(user_query|query|question)>\s*(.*?)\s*</\1>", re.S)
_UNNAMED = "attached file"


def files_in(text: str) -> list[SentFile]:
    """Return the files that a chat app has read and pasted around a question.

    The passages of one file are joined in the order in which the app gives them.
    """
    context = text.partition("<context>")[2].rpartition("</context>")[0].strip()
    texts_by_name: dict[str, list[str]] = {}
    for found in _BRACKETED.finditer(text):
        texts_by_name.setdefault(_UNNAMED, []).append(found[3].strip())
    for source in context.split("</source>")[:-1]:
        head, _, body = source.partition("<source")[2].partition(">")
        passage = _between(body, "source_context") or body
        texts_by_name.setdefault(_source_name(head, body), []).append(passage.strip())
    if context and not texts_by_name:
        texts_by_name[_UNNAMED] = [context]
    files = []
    for name, texts in texts_by_name.items():
        files.append(of_text(html.unescape(name), "\n\n".join(texts)))
    return files


def _source_name(head: str, body: str) -> str:
    """Return the file name from a source's attributes, else from its elements."""
    attribute = _NAME.search(head)
    if attribute and attribute[1]:
        return attribute[1]
    if attribute:
        return _UNNAMED
    return _between(body, "source_name") or _between(body, "source_id") or _UNNAMED


def without_inlined(text: str) -> tuple[list[SentFile], str]:
    """Return the text files that a client pasted into a message, and the rest of the message."""
    files, rest = _without_elements(text)
    before, *pieces = rest.split(_BEGIN)
    kept = [before]
    for piece in pieces:
        head, dashes, body = piece.partition("-----\n")
        content, end, after = body.partition(_END)
        if not dashes or not end:
            kept.append(_BEGIN + piece)
            continue
        name = _NAME.search(head)
        files.append(of_text(name[1] if name else _UNNAMED, content.strip()))
        kept.append(after.partition("-----")[2].lstrip("\n"))
    if not files:
        return files, text
    return files, "".join(kept).strip()


def _without_elements(text: str) -> tuple[list[SentFile], str]:
    """Return the files that are elements of a message, and the message without them and their wrapping."""
    files = []
    for _, attributes, content in _ELEMENT.findall(text):
        name = _NAME.search(attributes)
        if name and name[1] and content.strip():
            files.append(of_text(html.unescape(name[1]), content.strip()))
    if not files:
        return [], text
    rest = _ELEMENT.sub("", _APART.sub("", text))
    while _EMPTY.search(rest):
        rest = _EMPTY.sub("", rest)
    return files, rest


def question_in(text: str) -> str:
    """Return the user's question from the template in which a chat app sends it with files."""
    _, context, after = text.rpartition("</context>")
    if not context:
        return text
    marked = _QUESTION.search(after) or _QUESTION.search(text)
    question = marked[2] if marked else after
    return question.strip() or text


def without_file_list(text: str) -> str:
    """Return a question without the list of files that Open WebUI puts before it."""
    return _FILES.sub("", text)


def _between(text: str, tag: str) -> str:
    """Return the text between the first opening tag and the next closing tag."""
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()
