"""The few fixed sentences an answer may contain, in the language of the question; and which language that is."""

from __future__ import annotations

import re

from ragweave.corpora.meta import FUNCTION_WORDS, guess_language
from ragweave.corpora.types import Locator
from ragweave.models.text import script

_ASKING = {
    "en": "who whom whose which what where when why how does did is are was were the",
    "de": "wer wen wem wessen was wann wo wohin woher warum wie welche welcher welches viel viele",
    "fr": "qui quel quelle quels quelles quand où comment combien pourquoi est-ce quoi",
    "es": "quién qué cuál cuándo dónde cómo cuánto cuánta cuántos cuántas",
    "it": "chi che cosa quale quando dove come quanto quanti quante perché",
    "pt": "quem qual quando onde como quanto quantos quantas",
    "nl": "wie wat welke wanneer waar hoe hoeveel waarom",
}
_JOINING = {
    "de": "hat haben hatte war waren wurde wurden werden kann ihn ihm ihr er es wir ich am zum zur vom aus nach bei um",
}
"""Beside those and the most frequent ones."""
_LEAST = 2
"""Words of a question's own that tell its language."""
_PHRASES = {
    "abstain": (
        "I could not find an answer to this in your library.",
        "In Ihrer Bibliothek habe ich darauf keine Antwort gefunden.",
        "在您的资料库中没有找到这个问题的答案。",
    ),
    "greeting": (
        "Hello. Ask me something about your library.",
        "Hallo. Fragen Sie mich etwas zu Ihrer Bibliothek.",
        "您好，请就您的资料库提问。",
    ),
    "thanks": (
        "You are welcome.",
        "Gern geschehen.",
        "不客气。",
    ),
    "excerpts": (
        "Excerpts from “{title}” ({facts}):",
        "Auszüge aus „{title}“ ({facts}):",
        "《{title}》（{facts}）摘录：",
    ),
    "heard": (
        "(heard, perhaps wrongly)",
        "(gehört, vielleicht falsch)",
        "（听写，可能有误）",
    ),
    "holds": (
        "The library holds {n} files: {kinds}.",
        "Die Bibliothek enthält {n} Dateien: {kinds}.",
        "资料库中有 {n} 个文件：{kinds}。",
    ),
    "unsupported": (
        "every sentence that was written lacked support in the evidence",
        "keiner der geschriebenen Sätze ist belegt",
        "写出的句子都没有得到证据支持",
    ),
    "unverified": (
        "(unverified)",
        "(nicht belegt)",
        "（未核实）",
    ),
    "unknown": (
        "{why} The closest items found: {titles}.",
        "{why} Am nächsten kam: {titles}.",
        "{why} 找到的最接近的内容：{titles}。",
    ),
    "empty": (
        "the library holds nothing yet",
        "die Bibliothek ist noch leer",
        "资料库还是空的",
    ),
    "nothing": (
        "no item of the library bears on the question",
        "nichts in der Bibliothek gehört zu dieser Frage",
        "资料库中没有与问题相关的内容",
    ),
    "unmentioned": (
        "“{thing}” is never mentioned there",
        "„{thing}“ wird dort nie erwähnt",
        "其中没有提到“{thing}”",
    ),
    "weak": (
        "the closest that was found is “{title}”",
        "am nächsten kommt „{title}“",
        "找到的最接近的内容是“{title}”",
    ),
    "closest": (
        "I am not sure that this answers it, but it is the closest I found, in “{title}”: “{text}”",
        "Ich bin nicht sicher, dass dies die Antwort ist, aber es kommt am nächsten, in „{title}“: „{text}“",
        "我不确定这是否回答了问题，这是找到的最接近的内容，出自《{title}》：“{text}”",
    ),
    "blank": (
        "“{title}” has a place for this and leaves it blank: “{text}”",
        "„{title}“ hat dafür eine Stelle und lässt sie leer: „{text}“",
        "《{title}》有这一栏，但为空白：“{text}”",
    ),
    "before": (
        "Before, in “{title}”: {text}",
        "Davor, in „{title}“: {text}",
        "以前（《{title}》）：{text}",
    ),
    "differs": (
        "Another source differs, “{title}”: {text}",
        "Eine andere Quelle sagt es anders, „{title}“: {text}",
        "另一处说法不同（《{title}》）：{text}",
    ),
    "foreign": (
        "“{title}” is in {language}: without a multilingual encoder only names and numbers find it from this question",
        "„{title}“ ist in anderer Sprache: Ohne mehrsprachigen Encoder finden es von hier aus nur Namen und Zahlen",
        "“{title}”是用另一种语言写的：没有多语言编码器时，这个问题只能靠名称和数字找到它",
    ),
    "by_look": (
        "Found by look alone; no text says what is shown: {titles}.",
        "Nur dem Aussehen nach gefunden; kein Text sagt, was zu sehen ist: {titles}.",
        "仅凭画面找到，没有文字说明其内容：{titles}。",
    ),
    "library": (
        "Your library says: {text}",
        "Ihre Bibliothek sagt: {text}",
        "您的资料库中写道：{text}",
    ),
    "web": (
        "The web says: {text}",
        "Das Web sagt: {text}",
        "网上写道：{text}",
    ),
    "budget": (
        "{limit} was spent before an answer could be written",
        "{limit} war verbraucht, bevor eine Antwort geschrieben werden konnte",
        "在写出答案之前已用完限额：{limit}",
    ),
    "both": (
        "Your library and the web answer this differently; both are shown.",
        "Ihre Bibliothek und das Web antworten hierauf verschieden; beides steht hier.",
        "您的资料库与网上的说法不同，两者都已列出。",
    ),
    "open": (
        "Nothing that was found surely answers: {part}",
        "Nichts, was gefunden wurde, beantwortet sicher: {part}",
        "没有找到能确定回答此问题的内容：{part}",
    ),
}
"""English, German and Chinese."""


def language_of(question: str) -> str:
    """Return the ISO 639-1 code of a question's language by its function and question words, or "" when unsure."""
    said = [w.lower() for w in re.findall(r"[^\W\d_]+", question)]
    opens = [code for code, listed in _ASKING.items() if said[:1] and said[0] in listed.split()]
    if len(opens) == 1:
        return opens[0]
    known = guess_language(question)
    if known:
        return known
    counts = {code: sum(w in listed.split() for w in said) for code, listed in _ASKING.items()}
    best = max(counts.values())
    found = [code for code, n in counts.items() if n == best]
    return found[0] if len(found) == 1 and (best >= _LEAST or len(said) <= 8) and best else ""


def idle_words(question: str) -> frozenset[str]:
    """Return the words of a question's language that only ask or join; for English, none beside `STOP`."""
    language = language_of(question)
    if language not in _ASKING or language == "en":
        return frozenset()
    return FUNCTION_WORDS[language].union(_ASKING[language].split(), _JOINING.get(language, "").split())


def as_heard(text: str, place: Locator) -> str:
    """Return a text marked as heard where its place is speech that a recogniser was not sure of."""
    return f"{text} {phrase('heard', text)}" if place.get("doubtful") else text


def phrase(which: str, question: str, **slots: str) -> str:
    """Return a fixed sentence in German or Chinese for a question in that language, in English otherwise."""
    english, german, chinese = _PHRASES[which]
    said = chinese if script(question) == "han" else german if language_of(question) == "de" else english
    return said.format(**slots)
