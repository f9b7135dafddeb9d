"""The hard questions of docs/papers.md are hard by rule, and each has its rewrites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.evals.claims import auto_rag, crag
from ragweave.evals.claims import rag_fusion as claimed
from ragweave.evals.claims.common import read_rows, shortened
from ragweave.evals.claims.played import ClaimRecord, kept_note, played, verdict
from ragweave.evals.claims.rag_fusion import QUESTIONS as NAME
from ragweave.evals.claims.rag_fusion import REWRITES
from ragweave.evals.corpus import use_home
from ragweave.evals.sets import folder_of
from ragweave.tests.evals.claims.page import block_of, without_line

QUESTIONS = read_rows(NAME)


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["id"])
def test_a_hard_question_lacks_the_decisive_word_of_the_passage_that_a_file_holds(
    row: dict[str, Any],
) -> None:
    file = folder_of(row["library"]) / "library" / row["file"]
    assert row["decisive"].casefold() not in row["question"].casefold()
    if file.suffix in (".md", ".txt", ".eml", ".log"):
        assert row["gold"] in " ".join(file.read_text(encoding="utf-8").split())
    assert file.is_file()


def test_every_hard_question_has_rewrites_and_a_third_are_in_another_language() -> None:
    kept = {row["question"]: row["queries"] for row in read_rows(REWRITES)}
    assert kept.keys() == {row["question"] for row in QUESTIONS} and set(map(len, kept.values())) == {4}
    assert sum(row["foreign"] for row in QUESTIONS) * 3 == len(QUESTIONS)


async def test_arms_have_one_to_all_of_the_rewrites_and_as_published_only_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_home(tmp_path)
    read: dict[str, set[tuple[str, str]]] = {}

    async def by_node(search: claimed.Search, found: Any, **knobs: Any) -> list[str]:
        context = search.context.model_validate({**search.context.model_dump(exclude_unset=True), **knobs})
        key = f"{len(read)} {context.method.fusion}"
        read[key] = {(row["query"], row["kind"]) for row in found}
        return []

    row = next(row for row in QUESTIONS if row["library"] == "campsite")
    monkeypatch.setattr(claimed, "LIBRARIES", ("campsite",))
    monkeypatch.setattr(claimed.Search, "by_node", by_node)
    places = await claimed.measure([row])
    queries = [len({query for query, _ in asked}) for asked in read.values()]
    assert [queries[0], queries[1], *queries[4:7]] == [1, 5, 2, 3, 4]
    assert [key.split()[1] for key in read][7:] == ["dense", "dense", "rrf"]
    assert without_line("\n".join(places), claimed.LEFT_OUT) == ["NFCorpus"]
    assert {*claimed.FEWER.values(), claimed.PUBLISHED, claimed.AGED, claimed.HYBRID} <= places.keys()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("It takes 35 minutes [1].", "right"),
        ("It takes 50 minutes [1].", "wrong"),
        ("It takes 135 minutes.", "wrong"),
        ("UNKNOWN", "declined"),
        ("The knowledge that is given does not state it.", "declined"),
        ("One passage does not state it; the other says 35 minutes.", "right"),
    ],
)
def test_an_answer_is_judged_by_its_words(answer: str, said: str) -> None:
    assert verdict({"answer": answer, "abstained": False}, ["35 minutes"]) == said


def test_a_run_that_abstained_has_declined_whatever_it_shows() -> None:
    assert (
        verdict({"answer": "The closest says 35 minutes.", "abstained": True}, ["35 minutes"]) == "declined"
    )


@pytest.mark.parametrize(("module", "paper"), [(crag, "crag"), (auto_rag, "auto-rag")])
def test_the_page_shows_the_report_of_the_record(module: Any, paper: str) -> None:
    record = ClaimRecord.read(module.NAME)
    whole = module.report(record, record.of("outcome")).text
    assert not without_line(whole, module.LEFT_OUT)
    text = shortened(whole, module.LEFT_OUT)
    assert block_of(paper).startswith(text.rsplit("\n\n", 1)[0] + "\n\n")


def test_a_changed_prompt_is_counted_and_said() -> None:
    assert "changed" not in kept_note(3, 0)
    assert kept_note(3, 1).startswith("2 runs were run again") and "Of 1 a prompt has changed" in kept_note(
        3, 1
    )


async def test_runs_of_a_chain_end_again_as_the_record_says(tmp_path: Path) -> None:
    use_home(tmp_path)
    record = ClaimRecord.read(auto_rag.NAME)
    some = [run for run in await auto_rag.runs(record, tmp_path) if run.name.endswith("/4/clock")]
    outcomes, missing, changed = await played(some, record)
    kept = record.outcomes()
    assert len(some) == len(auto_rag.ARMS) and len(missing) == changed
    assert outcomes == [kept[run.name] for run in some]


async def test_a_run_without_its_reply_counts_as_it_was_kept(tmp_path: Path) -> None:
    use_home(tmp_path)
    record = ClaimRecord.read(auto_rag.NAME)
    some = [run for run in await auto_rag.runs(record, tmp_path) if run.name == "agent/1/clock"]
    record.kept.clear()
    outcomes, missing, changed = await played(some, record)
    assert changed == 1 and outcomes == [record.outcomes()["agent/1/clock"]]
    assert missing[0]["run"] == "agent/1/clock" and "town hall of Velm" in missing[0]["messages"][-1][1]


async def test_plain_rag_is_run_again_and_the_web_is_the_folder_of_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_home(tmp_path)
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", "")  # so that it is as before when the test has ended
    record = ClaimRecord.read(crag.NAME)
    try:
        runs = await crag.runs(record, tmp_path, steps=(100,))
        some = [run for run in runs if run.name.endswith("/100/tide")]
        outcomes, _, _ = await played(some, record)
        plain = [run for run in some if run.graph == "plain"]
        assert (await played(plain, record))[2] == 0
    finally:
        corpora_settings.cache_clear()
    assert outcomes == [record.outcomes()[run.name] for run in some] and len(some) == len(crag.ARMS)
