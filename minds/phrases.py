"""The few fixed sentences an answer may contain, in the language of the question."""

from __future__ import annotations

from ragweave.models.text import script

_PHRASES = {
    "abstain": ("I could not find an answer to this in your library.", "在您的资料库中没有找到这个问题的答案。"),
    "greeting": ("Hello. Ask me something about your library.", "您好，请就您的资料库提问。"),
    "thanks": ("You are welcome.", "不客气。"),
    "excerpts": ("Excerpts from “{title}” ({facts}):", "《{title}》（{facts}）摘录："),
    "heard": ("Heard, perhaps wrongly: “{text}”", "听写，可能有误：“{text}”"),
    "holds": ("The library holds {n} files: {kinds}.", "资料库中有 {n} 个文件：{kinds}。"),
    "unsupported": (
        "every sentence that was written lacked support in the evidence",
        "写出的句子都没有得到证据支持",
    ),
    "unverified": ("(unverified)", "（未核实）"),
    "unknown": ("{why} The closest items found: {titles}.", "{why} 找到的最接近的内容：{titles}。"),
    "empty": ("the library holds nothing yet", "资料库还是空的"),
    "nothing": ("no item of the library bears on the question", "资料库中没有与问题相关的内容"),
    "unmentioned": ("“{thing}” is never mentioned there", "其中没有提到“{thing}”"),
    "weak": ("the closest that was found is “{title}”", "找到的最接近的内容是“{title}”"),
    "closest": (
        "I am not sure that this answers it, but it is the closest I found, in “{title}”: “{text}”",
        "我不确定这是否回答了问题，这是找到的最接近的内容，出自《{title}》：“{text}”",
    ),
    "before": ("Before, in “{title}”: {text}", "以前（《{title}》）：{text}"),
    "differs": ("Another source differs, “{title}”: {text}", "另一处说法不同（《{title}》）：{text}"),
    "foreign": (
        "“{title}” is in {language}: without a multilingual encoder only names and numbers find it from this question",
        "“{title}”的语言是 {language}：没有多语言编码器时，这个问题只能靠名称和数字找到它",
    ),
    "by_look": (
        "Found by look alone; no text says what is shown: {titles}.",
        "仅凭画面找到，没有文字说明其内容：{titles}。",
    ),
    "library": ("Your library says: {text}", "您的资料库中写道：{text}"),
    "web": ("The web says: {text}", "网上写道：{text}"),
    "budget": ("{limit} was spent before an answer could be written", "在写出答案之前已用完限额：{limit}"),
}
"""English and Chinese."""


def phrase(which: str, question: str, **slots: str) -> str:
    """Return a fixed sentence in Chinese for a Chinese question, in English otherwise."""
    return _PHRASES[which][script(question) == "han"].format(**slots)
