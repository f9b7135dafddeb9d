"""Words that models write before an answer, in the languages of our prompts and others."""

from __future__ import annotations

_BEFORE = (  # languages with “final” before the noun
    r"answer|\w{0,9}antwort|\w{0,9}antwoord|\w{0,9}svar|\w{0,9}vastaus|odpowied[źz]|odpověď"
    r"|odpoveď|odgovor|válasz|atsakymas|atbilde|vastus"
    r"|ответ|відповідь|отговор|одговор|απάντηση|cevap|yanıt|उत्तर|जवाब|উত্তর"
)
_BEHIND = (
    r"respuesta|réponse|resposta|risposta|răspuns(?:ul)?|resposta|jawaban|câu trả lời|trả"
    r" lời|(?:ال)?إجابة|(?:ال)?جواب"
    r"|پاسخ|תשובה|คำตอบ[^\s:：]{0,14}|jibu"
)
_UNSPACED = r"(?:最终|最後の?|最終(?:的な?)?|最后的?)?(?:答案|回答|答え|答复|答)|(?:최종 ?)?(?:답변|답|대답)"
_WORD = r"[^\s\d:：#*_`.,;!?()\[\]]{1,20}"  # a letter of Devanagari may be no word character
ANSWER = (
    r"(?:the )?final answer(?: is)?|(?:final )?response"
    rf"|(?:{_WORD} ){{0,2}}(?:{_BEFORE})|(?:{_BEHIND})(?: {_WORD}){{0,2}}|{_UNSPACED}"
)
"""Pattern of a label of an answer, without its colon."""
