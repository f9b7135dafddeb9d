import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ragweave.models import relevance
from ragweave.models.errors import WeightsError
from ragweave.models.relevance import HEAD, LOWER, STRANGE, UPPER, Passage, head, score

IDF = {"what": 0.1, "year": 1.0, "open": 1.5}


def idf(term: str) -> float:
    return IDF.get(term, 3.0)


TOWER = Passage("Eiffel Tower", "The Eiffel Tower opened in Paris in 1889. It is 330 metres high.")
OTHERS = [
    Passage("Tokyo Tower", "The Tokyo Tower opened in 1958 as a mast for television."),
    Passage("Cats", "The cat sat on the mat and looked out of the window."),
    Passage("Bread", "Sourdough is fed with flour and water every day."),
    Passage("Harbour", "The ferry leaves at noon from the northern pier."),
]
QUESTION = "In what year did the Eiffel Tower open?"


def test_the_answering_passage_comes_first_and_clears_the_upper_threshold() -> None:
    found = score(QUESTION, [*OTHERS, TOWER], idf)
    assert found.order.argmax() == found.floor.argmax() == 4
    assert found.floor[4] >= UPPER
    assert (found.floor[1:4] < LOWER).all()


def test_one_sentence_is_judged_like_a_passage() -> None:
    strips = [Passage(TOWER.title, s) for s in ("The Eiffel Tower opened in Paris in 1889.", "It is 330 metres high.")]
    found = score(QUESTION, strips, idf).floor
    assert found[0] >= UPPER and found[0] > found[1] + 0.2


def test_more_of_the_question_never_counts_less() -> None:
    texts = [
        "A building.",
        "A tower.",
        "The Eiffel Tower.",
        "The Eiffel Tower opened.",
        "The Eiffel Tower opened that year.",
    ]
    relevances = [score(QUESTION, [Passage("", t)], idf).floor[0] for t in texts]
    assert relevances == sorted(relevances) and relevances[-1] > relevances[0] + 0.5


def test_chinese_is_told_apart() -> None:
    play = Passage("哈姆雷特", "《哈姆雷特》是威廉·莎士比亚创作的悲剧。")
    found = score("谁创作了哈姆雷特？", [play, Passage("猫", "猫坐在垫子上。")], idf).floor
    assert found[0] >= UPPER and found[1] < LOWER


def test_a_question_without_content_is_undecided() -> None:
    assert score("What is it?", [TOWER, OTHERS[1]], idf).floor.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("empty", [Passage("", ""), Passage("", " \n "), Passage("", "…")])
def test_an_empty_passage_is_irrelevant(empty: Passage) -> None:
    found = score(QUESTION, [empty, TOWER], idf)
    assert found.floor[0] < LOWER and found.order[0] < found.order[1]


def test_scores_follow_the_passages_when_they_are_reordered() -> None:
    forward, backward = score(QUESTION, [TOWER, *OTHERS], idf), score(QUESTION, [*OTHERS[::-1], TOWER], idf)
    np.testing.assert_allclose(forward.order, backward.order[::-1], atol=1e-6)
    np.testing.assert_allclose(forward.floor, backward.floor[::-1], atol=1e-6)


def test_the_second_hop_is_lifted_by_the_candidate_that_names_it() -> None:
    film = Passage("Big Stone Gap", "Big Stone Gap is a 2014 film written and directed by Adriana Trigiani.")
    person = Passage("Adriana Trigiani", "Adriana Trigiani is an author who lives in New York City.")
    question = "In which city does the director of Big Stone Gap live?"
    beside = score(question, [film, person, *OTHERS], idf).order
    assert set(np.argsort(-beside)[:2].tolist()) == {0, 1}


def test_the_shipped_weights_are_small_and_say_where_they_come_from() -> None:
    card = json.loads(HEAD.with_suffix(".json").read_text(encoding="utf-8"))
    assert card["trained_on"]["licence"] == "CC BY-SA 4.0"
    assert HEAD.with_suffix(".npz").stat().st_size < 500_000


@pytest.mark.parametrize("damage", ["missing", "cut", "no trees", "no scale"])
def test_broken_weights_are_named_with_a_remedy(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "relevance"
    for suffix in (".npz", ".json"):
        shutil.copy(HEAD.with_suffix(suffix), path.with_suffix(suffix))
    if damage == "missing":
        path.with_suffix(".npz").unlink()
    elif damage == "cut":
        path.with_suffix(".npz").write_bytes(HEAD.with_suffix(".npz").read_bytes()[:900])
    elif damage == "no trees":
        np.savez(path.with_suffix(".npz"), other=np.zeros(1))
    else:
        path.with_suffix(".json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsError, match="Install Ragweave again"):
        head(path)


def test_meaning_counts_only_where_no_words_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    near = Passage("Practice", "Cats get no food before surgery.")
    strange, plain = "Should a kitty fast ahead of an operation?", QUESTION
    before = score(strange, [*OTHERS, near], idf), score(plain, [*OTHERS, TOWER], idf)
    monkeypatch.setattr(relevance, "MEANING", 100.0)
    after = score(strange, [*OTHERS, near], idf), score(plain, [*OTHERS, TOWER], idf)
    assert before[0].floor.max() < STRANGE
    assert after[0].order.argmax() == 4
    assert after[1].order.tolist() == before[1].order.tolist()
