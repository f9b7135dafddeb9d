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
_QUESTION = re.compile(r"<(user_query|query|question)>\s*(.*?)\s*</\1>", re.S)
_UNNAMED = "attached file"


def files_in(text: str) -> list[SentFile]:
    """Return the files that a chat app has read and pasted around a question.

    The passages of one file are joined in the order in which the app gives them.
    """
    context = text.partition("<context>")[2].rpartition("</context>")[0].strip()
    texts_by_name: dict[str, list[str]] = {}
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
    before, *pieces = text.split(_BEGIN)
    files, rest = list[SentFile](), [before]
    for piece in pieces:
        head, dashes, body = piece.partition("-----\n")
        content, end, after = body.partition(_END)
        if not dashes or not end:
            rest.append(_BEGIN + piece)
            continue
        name = _NAME.search(head)
        files.append(of_text(name[1] if name else _UNNAMED, content.strip()))
        rest.append(after.partition("-----")[2].lstrip("\n"))
    if not files:
        return files, text
    return files, "".join(rest).strip()


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
