"""Questions that need no search, recognised by rule: greetings, thanks, small talk and computable arithmetic."""

from __future__ import annotations

import re

from ragweave.models.arithmetic import compute
from ragweave.models.text import fold

_OPENERS = r"""
    hi+ hello+ hey+ hiya howdy yo greetings good_(?:morning|afternoon|evening|night|day) bye(?:_bye)? goodbye
    see_you(?:_(?:later|tomorrow|soon))? thanks(?:_(?:a_lot|so_much|again|very_much))?
    thank_you(?:_(?:so_much|very_much|again|all))? thx ty cheers much_appreciated hallo servus moin
    guten_(?:morgen|tag|abend) gute_nacht tschuss danke(?:_(?:schon|sehr|dir|ihnen))? vielen_dank hola
    buen[oa]s_(?:dias|tardes|noches) adios hasta_luego gracias muchas_gracias bonjour bonsoir salut coucou
    au_revoir merci(?:_(?:beaucoup|bien))? ciao grazie ola obrigad[oa] привет спасибо 你好 您好 嗨 早上好 下午好
    晚上好 晚安 再见 谢谢[你您]? 多谢 非常感谢 こんにちは ありがとう(?:ございます)?
"""
_FILLERS = r"""
    there again everyone all friend buddy ragweave assistant bot dear team please so very much a_lot
    for_(?:the_|your_|all_your_)?(?:help|answers?|info)
    that_?s_(?:all|it|great|perfect|helpful|everything)(?:_(?:for_(?:today|now)|i_needed))?
    that_(?:was|is)_(?:all|great|perfect|very_helpful|helpful) that_(?:helped|helps) great perfect nice awesome
    cool ok okay got_it you_?(?:re|_are)_(?:great|a_star|the_best) and but then today now
    das_(?:war|ist)_(?:alles|super|es) das_hat_(?:mir_)?geholfen fur_(?:die|deine|ihre)_hilfe dir ihnen super
    eso_es_todo por_(?:tu|la|su)_ayuda amig[oa] c_est_tout pour_(?:ton|votre)_aide 没别的事了 你的帮助 您的帮助
    大家 啊 呀 了
"""
_TALK = r"""
    how_(?:are|r)_(?:you|u)(?:_(?:doing|today|feeling))? how_s_it_going how_do_you_do what_?s_up
    nice_to_meet_you how_is_your_day(?:_going)? (?:who|what)_are_you what_can_you_do(?:_for_me)?
    what_?s_your_name what_is_your_name are_you_(?:a_)?(?:robot|bot|human|an_ai|there)
    who_(?:made|built|created)_you tell_me_a_joke never_mind wie_geht_?(?:s|es)(?:_(?:dir|ihnen))? wer_bist_du
    was_kannst_du como_(?:estas|esta|te_va) quien_eres que_tal que_puedes_hacer (?:comment_)?ca_va
    comment_(?:vas_tu|allez_vous) qui_es_tu 你好吗 你是谁 你怎么样 (?:今天)?过得怎么样 今天过得怎么样 你能做什么
    讲个笑话 最近怎么样
"""


def _any(phrases: str) -> str:
    return "|".join(p.replace("_?", r"\W?").replace("_", r"\W+") for p in phrases.split())


_LATIN_EDGE = r"(?![a-zа-я])"
_SMALL_TALK = re.compile(
    rf"\W*(?:(?:(?:{_any(_OPENERS)}|{_any(_TALK)}){_LATIN_EDGE}\W*(?:(?:{_any(_FILLERS)}){_LATIN_EDGE}\W*)*)+)"
)
_LONGEST = 120


def is_small_talk(question: str) -> bool:
    """Tell whether the whole of a text is greeting, thanks or talk about the assistant itself."""
    return len(question) <= _LONGEST and _SMALL_TALK.fullmatch(fold(question)) is not None


def none_by_rule(question: str) -> bool:
    """Tell whether a question provably needs no search: small talk, or arithmetic that can be computed."""
    return is_small_talk(question) or compute(question) is not None
