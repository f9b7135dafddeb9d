"""The server's runs against a model: asking, consent, cancelling, deleting, revoking and restarting in any order."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ragweave.components.answer import Answer
from ragweave.corpora.store.stores import close_stores
from ragweave.graphs import run as graphs
from ragweave.models.settings import model_settings
from ragweave.serve.app import create_app
from ragweave.serve.records import Record
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import bearer, direct_client, parse_events, running

EXAMPLES = int(os.environ.get("TEST_EXAMPLES", "25"))
WHO = st.sampled_from(["ada", "ben"])
OPEN = ("running", "waiting")


class Scripted:
    """A graph that asks for consent where it is told to, and answers, or fails, when it may."""

    def __init__(self) -> None:
        self.may: dict[str, asyncio.Event] = {}
        self.fails: set[str] = set()

    async def astream(self, messages: list[Any], **options: Any) -> AsyncIterator[dict[str, Any]]:
        question = messages[-1].text
        if question.endswith("?web") and options.get("resume") is None:
            yield {"type": "consent", "action": "search_web", "query": question, "provider": "searx"}
            return
        yield {"type": "sentence", "text": "shown", "citations": [], "support": "supported"}
        await self.may.setdefault(question, asyncio.Event()).wait()
        if question in self.fails:
            raise RuntimeError("a fault in the graph")
        yield {"type": "state", "state": {"answer": Answer(text=question)}}


class Server(RuleBasedStateMachine):
    """The model: whose conversations there are, the state of each turn, and which keys work."""

    prepared: Path

    @initialize()
    def begin(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="machine-"))
        shutil.copytree(self.prepared, self.home, dirs_exist_ok=True)
        os.environ["RAGWEAVE_HOME"] = str(self.home)
        model_settings.cache_clear()
        self.loop, self.graph = asyncio.new_event_loop(), Scripted()
        graphs.astream = self.graph.astream
        self.threads: dict[str, tuple[str, list[str]]] = {}
        self.runs: dict[str, tuple[str, int]] = {}
        self.working = {"ada", "ben"}
        self.secrets: dict[str, str] = {}
        self.keys: dict[str, str] = {}
        self.start()
        rows = self.call("ada", "GET", "/api/libraries").json()["libraries"]
        library = next(row["id"] for row in rows if row["name"] == "default")
        for name in ("ada", "ben"):
            key, self.secrets[name] = self.app.state.keys.create(name, (library,))
            self.keys[name] = key.id

    def start(self) -> None:
        self.app = create_app(ServeSettings(per_minute=1_000_000))
        self.living = running(self.app)
        self.do(self.living.__aenter__())

    def do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        if hasattr(self, "living"):
            self.do(self.living.__aexit__(None, None, None))
            asyncio.set_event_loop(self.loop)
            for task in asyncio.all_tasks(self.loop):  # what watches a stream for the end of the server
                task.cancel()
            self.do(asyncio.sleep(0.01))
            asyncio.set_event_loop(None)
            self.loop.close()
            close_stores()
            shutil.rmtree(self.home)

    def call(self, who: str, method: str, path: str, **more: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            headers = bearer(self.secrets[who]) if who in self.secrets else {}
            async with direct_client(self.app, headers=headers) as client:
                found = await client.request(method, path, **more)
                await asyncio.sleep(0)
                return found

        return self.do(ask())

    def settle(self, run: str, status: str) -> None:
        desk = self.app.state.app_state

        def told() -> bool:
            # Whoever left its place has told everything; one that runs has shown its sentence, or is asked at
            # least.
            return self.record(run).status == status and (status == "running" or run not in desk.runs._runs)

        async def reached() -> None:
            async with asyncio.timeout(20):
                while not told():  # noqa: ASYNC110
                    await asyncio.sleep(0.001)

        self.do(reached())

    def record(self, run: str) -> Record:
        found = self.app.state.app_state.runs._records.get(run)
        assert found is not None
        return found

    def turn(self, run: str, status: str) -> None:
        thread, n = self.runs[run]
        if thread in self.threads:
            self.threads[thread][1][n - 1] = status

    def state(self, run: str) -> str:
        thread, n = self.runs[run]
        return self.threads[thread][1][n - 1] if thread in self.threads else "gone"

    def draw(self, data: st.DataObject, *states: str) -> str | None:
        found = [r for r in self.runs if self.state(r) in states]
        return data.draw(st.sampled_from(found)) if found else None

    def owner(self, run: str) -> str:
        return self.threads[self.runs[run][0]][0]

    def refusal(self, who: str, owner: str) -> int:
        """Return with which status a caller is refused what is somebody's, or 0."""
        return 401 if who not in self.working else 404 if owner != who else 0

    @rule(who=WHO, data=st.data(), web=st.booleans(), follow=st.booleans())
    def ask(self, who: str, data: st.DataObject, web: bool, follow: bool) -> None:
        body: dict[str, Any] = {
            "question": f"{secrets.token_hex(4)}{'?web' if web else '?'}",
            "library": "default",
        }
        if follow and self.threads:
            body["thread"] = data.draw(st.sampled_from(list(self.threads)))
        owner, turns = self.threads.get(body.get("thread", ""), (who, []))
        got = self.call(who, "POST", "/api/ask", json=body)
        if refusal := self.refusal(who, owner):
            assert got.status_code == refusal
        elif "running" in turns:
            assert got.status_code == 409
        else:
            assert got.status_code == 202, got.text
            told = got.json()
            if "waiting" in turns:  # a question that waits is dropped for the next
                turns[turns.index("waiting")] = "cancelled"
            self.threads.setdefault(told["thread"], (who, turns))[1].append("waiting" if web else "running")
            self.runs[told["run"]] = told["thread"], told["turn"]
            assert told["turn"] == len(self.threads[told["thread"]][1])
            self.settle(told["run"], "waiting" if web else "running")

    @rule(data=st.data(), fails=st.booleans())
    def let_it_end(self, data: st.DataObject, fails: bool) -> None:
        if run := self.draw(data, "running"):
            question = self.record(run).about["question"]
            if fails:
                self.graph.fails.add(question)
            self.do(asyncio.sleep(0))
            self.graph.may.setdefault(question, asyncio.Event()).set()
            self.settle(run, "failed" if fails else "done")
            self.turn(run, "failed" if fails else "done")

    @rule(data=st.data(), who=WHO)
    def cancel(self, data: st.DataObject, who: str) -> None:
        if run := self.draw(data, "running", "waiting", "done", "failed", "cancelled"):
            got = self.call(who, "POST", f"/api/runs/{run}/cancel", json={})
            if refusal := self.refusal(who, self.owner(run)):
                assert got.status_code == refusal
            elif self.state(run) in OPEN:
                assert got.json()["status"] == "cancelled"
                self.turn(run, "cancelled")
            elif got.status_code != 404:  # one of an earlier server is not known to this one
                assert got.json()["status"] == self.state(run)

    @rule(data=st.data(), who=WHO, consent=st.booleans())
    def resume(self, data: st.DataObject, who: str, consent: bool) -> None:
        if run := self.draw(data, "waiting", "running", "done"):
            got = self.call(who, "POST", f"/api/runs/{run}/resume", json={"consent": consent})
            if refusal := self.refusal(who, self.owner(run)):
                assert got.status_code == refusal
            elif self.state(run) == "waiting":
                assert got.status_code == 202
                self.settle(run, "running")
                self.turn(run, "running")
            else:
                assert got.status_code in (404, 409)

    @rule(data=st.data(), who=WHO)
    def delete(self, data: st.DataObject, who: str) -> None:
        if self.threads:
            thread = data.draw(st.sampled_from(list(self.threads)))
            got = self.call(who, "DELETE", f"/api/threads/{thread}")
            assert got.status_code == (self.refusal(who, self.threads[thread][0]) or 204)
            if got.status_code == 204:
                del self.threads[thread]

    @precondition(lambda self: len(self.working) == 2)
    @rule(who=WHO)
    def revoke(self, who: str) -> None:
        self.app.state.keys.revoke(self.keys[who])
        self.working.discard(who)

    @rule()
    def restart(self) -> None:
        self.do(self.living.__aexit__(None, None, None))
        for run in self.runs:
            if self.state(run) == "running":
                self.turn(run, "failed")
        self.graph.may.clear()
        self.start()

    @invariant()
    def it_says_what_the_model_says(self) -> None:
        if not self.__dict__.get("secrets"):
            return
        for who in ("ada", "ben"):
            got = self.call(who, "GET", "/api/threads")
            if who not in self.working:
                assert got.status_code == 401
                continue
            mine = {t for t, (owner, _) in self.threads.items() if owner == who}
            assert {t["id"] for t in got.json()["threads"]} == mine
            for thread in mine:
                turns = self.call(who, "GET", f"/api/threads/{thread}").json()["turns"]
                assert [t["status"] for t in turns] == self.threads[thread][1]
                assert all((t["answer"] is not None) == (t["status"] == "done") for t in turns)
        desk = self.app.state.app_state
        for run in self.runs:
            found = desk.runs._records.get(run)
            assert (found is None) == (self.state(run) == "gone")
            if found is None:
                continue
            kinds = [entry.type for entry in desk.runs._records.after({run: 0})[run]]
            assert kinds.count("end") == (found.status not in OPEN) and "end" not in kinds[:-1]
            assert kinds.count("answer") == (found.status == "done")
            assert found.status == self.state(run)
            if self.owner(run) in self.working and found.status not in OPEN:
                events = parse_events(self.call(self.owner(run), "GET", f"/api/runs/{run}/events").text)
                assert [e["type"] for e in events] == kinds
        at_work = sum(r.status == "running" for r in desk.runs._runs.values())
        assert desk.slots._free == ServeSettings.running - at_work


@pytest.mark.parametrize("examples", [4, pytest.param(EXAMPLES, marks=pytest.mark.hard)])
def test_runs_do_in_any_order_what_their_model_does(
    notes: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: int
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    real, Server.prepared = graphs.astream, home
    how = settings(
        max_examples=examples, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
    )
    try:
        run_state_machine_as_test(Server, settings=how)
    finally:
        graphs.astream = real
        os.environ["RAGWEAVE_HOME"] = str(home)
        model_settings.cache_clear()
