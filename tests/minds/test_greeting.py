import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.minds.small.question.greeting import is_greeting


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello there!",
        "Guten Morgen",
        "Muchas gracias",
        "merci beaucoup !",
        "good night",
        "Thanks, good.",
        "ok thank you",
    ],
)
def test_greetings_and_thanks_need_no_search(text):
    assert is_greeting(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "hi, what is my rent?",
        "thanks for the letter from the bank, when is it due",
        "hits of 1999",
        "good friday opening hours",
        "Great, when does it open?",
        "hello world program in the notes",
        "what's up with the boiler",
        "what are you allowed to deduct?",
        "good morning america episode list",
        "谢谢信是谁写的？",
        "How much is the deposit?",
        "merci de trouver la facture",
    ],
)
def test_questions_about_ones_own_things_are_not_taken_for_greetings(text):
    assert not is_greeting(text)


@given(st.text(alphabet="hi thanks,!?", max_size=200))
def test_repetitive_text_is_decided(text):
    assert is_greeting(text) in (True, False)
