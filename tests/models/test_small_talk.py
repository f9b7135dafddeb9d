import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.small_talk import is_small_talk, none_by_rule


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello there!",
        "hey, how are you doing?",
        "thanks, that's all for today",
        "Thank you so much for the help!",
        "who are you and what can you do?",
        "Guten Morgen",
        "Danke dir, das hat geholfen!",
        "¡Hola! ¿Qué tal?",
        "Muchas gracias",
        "Bonjour, ça va ?",
        "merci beaucoup !",
        "你好，今天过得怎么样？",
        "谢谢你的帮助",
        "good night",
    ],
)
def test_greetings_thanks_and_small_talk_need_no_search(text):
    assert none_by_rule(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "hi, what is my rent?",
        "thanks for the letter from the bank, when is it due",
        "hits of 1999",
        "hello world program in the notes",
        "what's up with the boiler",
        "what are you allowed to deduct?",
        "good morning america episode list",
        "谢谢信是谁写的？",
        "How much is the deposit?",
        "merci de trouver la facture",
    ],
)
def test_questions_about_ones_own_things_are_not_taken_for_small_talk(text):
    assert not none_by_rule(text)


def test_computable_arithmetic_needs_no_search():
    assert none_by_rule("what is 17 * 23?")
    assert not is_small_talk("what is 17 * 23?")


@given(st.text(alphabet="hi thanks,!?", max_size=200))
def test_repetitive_text_is_decided(text):
    assert is_small_talk(text) in (True, False)
