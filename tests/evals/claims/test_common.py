"""What the claims share: the option, records, and the model that gives kept replies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from typer.testing import CliRunner

from ragweave.app import cli
from ragweave.evals.claims import common, video_rag
from ragweave.models.errors import InputError


def bench(*argv: str, work: Path) -> str:
    done = CliRunner().invoke(cli.app, ["bench", *argv, "--claim", "--work", str(work)])
    return str(done.exception or done.output)


def test_a_claim_prints_its_report_draws_it_and_writes_its_figures(tmp_path: Path) -> None:
    plot, figures = tmp_path / "x.svg", tmp_path / "x.json"
    said = bench("video-rag", "--plot", str(plot), "--json", str(figures), work=tmp_path)
    assert said.startswith("6 lectures of 43 minutes") and plot.read_text().startswith("<?xml")
    assert 0 < json.loads(figures.read_text())["whole, first 5"] <= 1


def test_a_short_report_leaves_sections_and_lines_out() -> None:
    text = "arms\n\nhits\none  1\ntwo  2\n\nmore\nthree  3"
    assert common.shortened(text, ("more", "two ")) == "arms\n\nhits\none  1"


def test_a_claim_is_printed_short(tmp_path: Path) -> None:
    whole = bench("video-rag", work=tmp_path).strip()
    short = bench("video-rag", "--short", work=tmp_path).strip()
    assert "\nagreement" in whole and short == common.shortened(whole, video_rag.LEFT_OUT) != whole


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("hyde",), "There is no paper “hyde”"),
        (("video-rag", "--plot", "{}/x.bmp"), "is neither .svg nor .png"),
    ],
)
def test_what_a_claim_cannot_use_is_said_in_a_sentence(
    argv: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    output = bench(*(word.format(tmp_path) for word in argv), work=tmp_path)
    assert said.casefold() in " ".join(output.split()).casefold()


def test_a_prompt_has_one_key_as_pairs_and_as_messages() -> None:
    pairs = [("system", "Route."), ("human", "Where?")]
    assert common.key_of(pairs) == common.key_of([SystemMessage("Route."), HumanMessage("Where?")])
    assert common.key_of(pairs) != common.key_of([("system", "Route."), ("human", "When?")])


async def test_a_kept_reply_is_given_and_a_prompt_without_one_is_noted() -> None:
    model = common.KeptChat(kept={common.key_of([("human", "Where?")]): "here"})
    assert (await model.ainvoke([("human", "Where?")])).text == "here"
    with pytest.raises(InputError, match="no reply is kept"):
        await model.ainvoke([("human", "When?")])
    assert [row["messages"] for row in model.missing] == [[["user", "When?"]]]


def test_records_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "RECORDS", tmp_path)
    common.write_rows("x", [{"a": "ä"}, {"b": [1, 2.5]}])
    assert common.read_rows("x") == [{"a": "ä"}, {"b": [1, 2.5]}]
    with pytest.raises(InputError, match="cannot be read"):
        common.read_rows("y")
