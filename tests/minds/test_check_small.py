import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.minds.small.check import SUPPORTED, support
from ragweave.models.relevance import Passage

EINSTEIN = Passage(
    "Albert Einstein",
    "He was born in Ulm on 14 March 1879. He did not win the prize in 1920, but received it in 1921 for three papers. "
    "Later he moved to Princeton, where he taught for 22 years.",
)
CAT = Passage("Cats", "The cat sat on the mat for 20 minutes.")
HAMLET = Passage("哈姆雷特", "《哈姆雷特》是威廉·莎士比亚于1599年至1602年间创作的悲剧。他没有离开伦敦。")


@pytest.mark.parametrize(
    "sentence",
    [
        "Einstein was born in Ulm on March 14, 1879.",
        "Albert Einstein was born on 14 March 1879 in Ulm.",
        "In Ulm, on 1879-03-14, Einstein was born.",
        "Einstein did not win the prize in 1920.",
        "He received the prize in 1921 for 3 papers.",
        "Einstein taught at Princeton for twenty-two years.",
        "einstein moved to princeton",
    ],
)
def test_a_paraphrase_is_supported(sentence: str) -> None:
    found = support(sentence, [CAT, EINSTEIN])
    assert (found.supported, found.by, found.why) == (True, (1,), "")


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("Einstein was born in Ulm in 1880.", "The number 1880 is not in the evidence."),
        ("Einstein was born in Ulm on 14 April 1879.", "The month April is not in the evidence."),
        ("Isaac Newton was born in Ulm in 1879.", "The name Isaac Newton is not in the evidence."),
        ("Einstein moved to Berlin, where he taught.", "The name Berlin is not in the evidence."),
        ("Einstein was not born in Ulm.", "The evidence does not say “not”."),
        ("Einstein won the prize in 1920.", "The evidence denies it: “not”."),
        ("Einstein taught at Princeton for 22 days.", "The number 22 days is not in the evidence."),
        ("Earlier he kept bees and grew tomatoes.", "The evidence covers only 0% of it."),
    ],
)
def test_a_sentence_that_disagrees_is_not_supported_and_says_why(sentence: str, why: str) -> None:
    found = support(sentence, [EINSTEIN, CAT])
    assert (found.supported, found.by, found.why) == (False, (), why)
    assert found.score < SUPPORTED


def test_an_opposite_word_is_noticed() -> None:
    evidence = [Passage("Harbour", "Traffic in the harbour increased in 2020.")]
    assert support("Harbour traffic increased in 2020.", evidence).supported
    assert (
        support("Harbour traffic decreased in 2020.", evidence).why == "The evidence says the opposite of “decreased”."
    )


@pytest.mark.parametrize("passage", [EINSTEIN, CAT, HAMLET])
def test_every_sentence_of_the_evidence_is_supported(passage: Passage) -> None:
    from ragweave.models.text import sentences

    for a, b in sentences(passage.text):
        found = support(passage.text[a:b], [CAT, passage])
        assert found.supported and found.score == 1.0


def test_a_part_cut_out_of_its_denial_is_not_verbatim() -> None:
    evidence = [Passage("Report", "It is not true that the bridge collapsed in the storm.")]
    assert not support("The bridge collapsed in the storm.", evidence).supported


def test_two_passages_can_support_a_sentence_together() -> None:
    film = Passage("Big Stone Gap", "Big Stone Gap is a drama film directed by Adriana Trigiani.")
    person = Passage("Adriana Trigiani", "Adriana Trigiani lives in Greenwich Village.")
    found = support(
        "Big Stone Gap was directed by Adriana Trigiani, who lives in Greenwich Village.", [CAT, person, film]
    )
    assert found.supported and set(found.by) == {1, 2}


def test_what_says_the_rest_of_a_supported_sentence_is_named_beside_it() -> None:
    slide = Passage("Shop", "Spoke and Chain, bicycle shop. Sales: Petra Lind.")
    notes = Passage("Notes", "The brush was a present of Petra Lind.")
    sentence = "Petra Lind, whose present was the brush, is in sales at the bicycle shop Spoke and Chain."
    found = support(sentence, [CAT, slide, notes])
    assert (found.by, found.adds) == ((1,), (2,))
    assert support("Petra Lind is in sales.", [CAT, slide, notes]).adds == ()


def test_all_evidence_that_says_it_is_named_best_first() -> None:
    weaker = Passage("Ulm", "Ulm is where Einstein was born in 1879, among others.")
    assert support("Einstein was born in Ulm in 1879.", [CAT, weaker, EINSTEIN]).by in ((1, 2), (2, 1))


@pytest.mark.parametrize(
    ("sentence", "good"),
    [
        ("《哈姆雷特》由莎士比亚创作。", True),
        ("《哈姆雷特》是1599年创作的悲剧。", True),
        ("《哈姆雷特》是1788年创作的悲剧。", False),
        ("《李尔王》是莎士比亚创作的悲剧。", False),
        ("他离开伦敦。", False),
        ("猫坐在垫子上。", False),
    ],
)
def test_chinese_is_checked(sentence: str, good: bool) -> None:
    assert support(sentence, [HAMLET]).supported is good


@pytest.mark.parametrize("sentence", ["", "…", "It is.", "Yes."])
def test_a_sentence_that_says_nothing_is_not_supported(sentence: str) -> None:
    found = support(sentence, [EINSTEIN])
    assert not found.supported and found.why


def test_nothing_supports_without_evidence() -> None:
    assert support("Einstein was born in Ulm.", []).why == "There is no evidence for it."
    assert not support("Einstein was born in Ulm.", [Passage("", "")]).supported


def test_words_of_the_question_weigh_less_but_its_names_do_not() -> None:
    evidence = [Passage("", "It opened in Paris.")]
    question = "In which capital city was the exhibition opened?"
    sentence = "The exhibition was opened in the capital city Paris."
    assert support(sentence, evidence, question).score > support(sentence, evidence).score
    assert not support(
        "Eiffel opened in Paris.", [Passage("", "It opened in Paris.")], "Where did Eiffel open?"
    ).supported


@settings(max_examples=40, deadline=None)
@given(
    st.text(max_size=80),
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=80)), max_size=3),
    st.text(max_size=40),
)
def test_any_text_gets_a_verdict(sentence: str, evidence: list[tuple[str, str]], question: str) -> None:
    found = support(sentence, [Passage(*e) for e in evidence], question)
    assert 0 <= found.score <= 1
    assert found.supported == bool(found.by) == (not found.why)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("The freezer is kept at -18 °C.", "The freezer is kept at 18 °C."),
        ("The freezer is kept at 18 °C.", "The freezer is kept at −18 °C."),
        ("The freezer is kept at minus 18 degrees.", "The freezer is kept at 18 degrees."),
        ("The repair costs $250.", "The repair costs €250."),
        ("The level is < 5 mg.", "The level is > 5 mg."),
        ("Interest is 5 %.", "Interest is 5 ‰."),
        ("The balance was +40 and then -12.", "The balance was -40 and then +12."),
    ],
)
def test_a_sign_beside_a_number_is_a_part_of_it(said: str, wrong: str) -> None:
    assert support(said, [Passage("Notes", said)]).score == 1.0
    assert not support(wrong, [Passage("Notes", said)]).supported


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("The freezer is kept at -18 °C.", "The freezer is kept at minus 18 °C."),
        ("- 5 eggs\n- 3 apples", "5 eggs and 3 apples"),
        ("-5 eggs\n-3 apples", "5 eggs and 3 apples"),
        ("The season 2019-2020 had COVID-19 rules.", "In the 2019-2020 season there were COVID-19 rules."),
        ("The shop opens 9-17.", "The shop opens from 9 to 17."),
        ("The level is < 5 mg.", "The level is below 5 mg."),
    ],
)
def test_a_dash_is_no_sign(said: str, claim: str) -> None:
    assert support(claim, [Passage("Notes", said)]).supported


@pytest.mark.parametrize("title", ["walk.vtt (0:00-1:38)", "council-2024.pdf", "minutes (2024-05-17)"])
def test_numbers_of_another_head_are_not_how_much_there_is_of_something(title: str) -> None:
    evidence = [
        Passage("Lighthouse", "The tower is 31 metres tall and has 148 steps."),
        Passage(title, "We begin at the old weighing house, where the herring was counted."),
    ]
    assert support("The tower is 31 metres tall.", evidence, "How tall is the tower?").supported
    for n in (0, 1, 38, 2024, 17, 5):
        assert not support(f"The tower is {n} metres tall.", evidence, "How tall is the tower?").supported


def test_a_year_in_the_head_counts_as_said() -> None:
    assert support("The council met in 2024.", [Passage("council-2024.pdf", "The council met in the hall.")]).supported
