from ragweave.corpora.types import LABELS
from ragweave.evals import router as r
from ragweave.evals.data import RoutedQuestion

QUESTIONS = ["What colour is the car in the photo?", "Summarise the whole webinar", "hm"]


def decision(label, confidence, ms=1.0, calls=0):
    rest = (1 - confidence) / (len(LABELS) - 1)
    return r.RouterDecision(
        {k: confidence if k == label else rest for k in LABELS}, label, confidence, ms, calls
    )


async def test_the_models_word_counts_and_an_unreadable_one_falls_back_to_the_head():
    replies = iter(["clip", None, "banana"])

    async def classify(question):
        return next(replies)

    found = await r.decide(QUESTIONS, r.by_model(classify, LABELS))
    small = await r.decide(QUESTIONS, r.by_head())
    assert (found[0].label, found[0].confidence, found[0].fell_back) == ("clip", 1.0, False)
    assert [d.fell_back for d in found[1:]] == [True, True]
    assert [d.label for d in found[1:]] == [d.label for d in small[1:]]
    assert all(d.calls == 1 for d in found)


def test_figures_of_a_run():
    rows = [
        RoutedQuestion("1", "a", "image", "x"),
        RoutedQuestion("2", "b", "image", "x"),
        RoutedQuestion("3", "c", "clip", "y"),
    ]
    decisions = [decision("image", 1.0, 1), decision("clip", 1.0, 2), decision("clip", 1.0, 3, calls=1)]
    found = r.measure(rows, decisions)
    assert found.flat["accuracy_micro"] == round(2 / 3, 4)
    assert found.flat["accuracy_macro"] == 0.75
    assert found.flat["ece"] == round(1 / 3, 4)
    assert found.flat["ms_per_question"] == 2
    assert found.flat["model_calls_per_question"] == round(1 / 3, 4)
    assert found.per_source == {"x": 0.5, "y": 1.0}
    assert found.confusion["image"] == {"image": 1, "clip": 1}
