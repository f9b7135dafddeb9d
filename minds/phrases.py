"""The few fixed sentences an answer may contain, in the language of the question."""

from __future__ import annotations

from typing import Literal

from ragweave.models.text import script

Phrase = Literal[
    "abstain",
    "greeting",
    "unsupported",
    "empty",
    "nothing",
    "unmentioned",
    "weak",
    "by_look",
    "budget",
    "own_side",
    "web_side",
]

_EN: dict[Phrase, str] = {
    "abstain": "I could not find an answer to this in your library.",
    "greeting": "Hello. Ask me something about your library.",
    "unsupported": "every sentence that was written lacked support in the evidence",
    "empty": "the library holds nothing yet",
    "nothing": "no item of the library bears on the question",
    "unmentioned": "“{thing}” is never mentioned there",
    "weak": "the closest item found, “{title}”, does not answer it",
    "by_look": "Found by look alone; no text says what is shown: {titles}.",
    "budget": "{limit} was spent before an answer could be written",
    "own_side": "Your library says: {text}",
    "web_side": "The web says: {text}",
}
_ZH: dict[Phrase, str] = {
    "abstain": "在您的资料库中没有找到这个问题的答案。",
    "greeting": "您好，请就您的资料库提问。",
    "unsupported": "写出的句子都没有得到证据支持",
    "empty": "资料库还是空的",
    "nothing": "资料库中没有与问题相关的内容",
    "unmentioned": "其中没有提到“{thing}”",
    "weak": "找到的最接近的内容“{title}”并未回答这个问题",
    "by_look": "仅凭画面找到，没有文字说明其内容：{titles}。",
    "budget": "在写出答案之前已用完限额：{limit}",
    "own_side": "您的资料库中写道：{text}",
    "web_side": "网上写道：{text}",
}


def phrase(which: Phrase, question: str, **slots: str) -> str:
    """Return a fixed sentence in Chinese for a Chinese question, in English otherwise."""
    return (_ZH if script(question) == "han" else _EN)[which].format(**slots)
