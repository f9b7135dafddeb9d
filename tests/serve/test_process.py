"""The log: one line for each record, of which a terminal shows every character and acts upon none."""

from __future__ import annotations

import json
import logging
import sys
from urllib.parse import quote

import httpx
import pytest

from ragweave.serve.process import Json, WordsFormatter

ACTS = "\x1b]0;owned\x07\x1b[2J\x7f\x9b2J\x85\u2028\u2029\u202e"


async def test_what_an_address_holds_does_nothing_in_the_terminal_of_the_log(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("ragweave.serve"), "propagate", True)
    with caplog.at_level(logging.INFO, "ragweave.serve"):
        await client.get(f"/open/{quote(ACTS)}/été")
    (record,) = [r for r in caplog.records if "/open/" in r.getMessage()]
    line = WordsFormatter().format(record)
    assert (
        line.isprintable()
        and "GET /open/\\u001b]0;owned\\u0007" in line
        and "\\u009b" in line
        and "/été 404" in line
    )
    told = Json().format(record)
    assert told.isprintable() and json.loads(told)["message"] == record.getMessage()


def test_the_lines_of_a_traceback_stay_and_what_it_quotes_does_nothing() -> None:
    try:
        raise ValueError(ACTS)
    except ValueError:
        record = logging.LogRecord(
            "ragweave", logging.ERROR, __file__, 1, "one\ntwo\rthree", (), sys.exc_info()
        )
    first, *trace = WordsFormatter().format(record).split("\n")
    assert first.endswith("error one two three") and trace[0].startswith("Traceback")
    assert all(line.isprintable() for line in trace) and "\\u001b]0;owned" in trace[-1]
    assert Json().format(record).isprintable()
