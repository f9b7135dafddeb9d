"""A Ray cluster reads: the library is the same, hostile files cost themselves, and a lost node what it had in hand."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from ragweave.corpora.ingest.cluster import RayReaders
from ragweave.corpora.ingest.run import index
from ragweave.corpora.settings import CorporaSettings, corpora_settings
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import close_stores
from ragweave.models.errors import LibraryError, SourceError
from ragweave.models.settings import model_settings
from ragweave.tests.support.exports import slack

# Read when Ray is imported: every address of it is that of loopback.
os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
ray = pytest.importorskip("ray", reason="Ray is not installed (extra `cluster`)")
pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("ray")]

TEXTS = {f"{n}.md": f"# Town {n}\n\nThe mill of town {n} has {n + 3} wheels.\n" for n in range(12)}

SLOW = """
import json, struct, sys, time
for line in sys.stdin.buffer:
    asked = json.loads(line)
    seconds = float(open(asked["path"]).read())
    open(asked["path"] + ".begun", "a").write("x")
    time.sleep(seconds)
    reply = json.dumps({"what": "slept", "remedy": ""}).encode()
    sys.stdout.buffer.write(struct.pack(">Q", len(reply)) + reply)
    sys.stdout.buffer.flush()
"""
SLEEPS = (sys.executable, "-c", SLOW)
"""A reading process that takes as long as its file says and refuses it then."""


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two nodes with one CPU each, on loopback."""
    from ray._private import services
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    with patch.object(services, "get_node", patient(services.get_node)):
        try:
            made = Cluster(initialize_head=True, head_node_args={**small, "node_ip_address": "127.0.0.1"})
            made.add_node(num_cpus=1, object_store_memory=80 * 2**20)
            made.wait_for_nodes(timeout=PATIENCE)
        except Exception as error:  # Ray's own, of no narrower kind
            pytest.skip(f"Ray starts no cluster here, or not in time: {error}")
        yield made
        ray.shutdown()
        made.shutdown()


PATIENCE = 300
"""Seconds that a node may take to start; Ray gives it thirty, which a machine with much other work does not keep."""


def patient(look):
    def waiting(*given, **more):
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return look(*given, **more)
            except RuntimeError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    return waiting


@pytest.fixture
def folder(tmp_path):
    """Twelve notes, an export, and a file that is no PDF."""
    where = tmp_path / "notes"
    where.mkdir()
    for name, text in TEXTS.items():
        (where / name).write_text(text)
    (where / "team.slack.zip").write_bytes(slack())
    (where / "broken.pdf").write_bytes(b"%PDF-1.7\n" + b"\0" * 100)
    return where


def indexed(folder, home, monkeypatch, address=""):
    """Index a folder into a home of its own; return its report and what the library holds."""
    monkeypatch.setenv("RAGWEAVE_HOME", str(home))
    monkeypatch.setenv("RAGWEAVE_RAY", address)
    close_stores()
    model_settings.cache_clear()
    corpora_settings.cache_clear()

    async def run():
        report = await index([folder])
        library = await open_library()
        found = await library.search("paragraph", ["mill of town 7"])
        return report, sorted((h.id, round(h.score, 4)) for h in (*found[0].dense, *found[0].lexical))

    return asyncio.run(run())


def readers(cluster, tmp_path, command=()):
    settings = CorporaSettings(ray=cluster.address)
    return RayReaders(settings, [str(tmp_path)], command)


def test_a_cluster_makes_the_same_library_as_this_machine(cluster, folder, tmp_path, monkeypatch):
    here, ours = indexed(folder, tmp_path / "here", monkeypatch)
    there, theirs = indexed(folder, tmp_path / "there", monkeypatch, cluster.address)
    assert (there.indexed, there.items, there.failed) == (
        here.indexed,
        here.items,
        here.failed,
    ) and there.indexed == 13
    assert theirs == ours
    again, _ = indexed(folder, tmp_path / "there", monkeypatch, cluster.address)
    assert (again.indexed, again.unchanged) == (0, 13), "the ledger counts"


def test_a_lost_node_costs_what_it_had_in_hand_which_another_repeats(cluster, tmp_path):
    extra = cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    cluster.wait_for_nodes(timeout=PATIENCE)
    held = readers(cluster, tmp_path, SLEEPS)
    assert held.width == 3
    told = []
    for name in "abc":
        (tmp_path / name).write_text("20")
    asking = [threading.Thread(target=lambda n=n: told.append(refused(held, tmp_path / n))) for n in "abc"]
    for thread in asking:
        thread.start()
    begun = [tmp_path / f"{name}.begun" for name in "abc"]
    wait_for(lambda: all(p.exists() for p in begun))
    for name in "abc":
        (tmp_path / name).write_text("0")
    cluster.remove_node(extra)
    for thread in asking:
        thread.join(120)
    held.close()
    assert told == ["slept"] * 3
    assert sorted(len(p.read_text()) for p in begun) == [
        1,
        1,
        2,
    ], "what was lost was read once more, and nothing else"


def test_workers_that_die_on_a_living_node_are_started_again_and_no_more_often_than_twice(cluster, tmp_path):
    held = readers(cluster, tmp_path, SLEEPS)
    path = tmp_path / "a"
    path.write_text("0")
    for _ in range(2 * held.width):
        for one in held._all:
            ray.kill(one)
        assert refused(held, path) in ("slept", "Reading it ended the processes of two nodes")
        if not held._again:
            break
    for one in held._all:
        ray.kill(one)
    with pytest.raises(LibraryError, match="workers of the Ray cluster end again and again"):
        for _ in range(3):
            with suppress(SourceError):
                held.read(str(path), "s", 60)
    held.close()


@pytest.mark.parametrize(
    ("gpus", "root", "why"),
    [(0.5, "", r"nowhere 1 CPUs and 0\.5 GPUs"), (0, "/nowhere", "does not see /nowhere")],
)
def test_a_cluster_that_cannot_do_it_says_so_before_anything_is_read(cluster, tmp_path, gpus, root, why):
    with pytest.raises(LibraryError, match=why):
        RayReaders(CorporaSettings(ray=f"{cluster.address}?gpus={gpus}"), [root or str(tmp_path)])


def test_a_key_does_not_travel(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY", "s3cret")
    monkeypatch.setenv("RAGWEAVE_DATABASE_URL", "postgresql+psycopg://ragweave:s3cret@db/ragweave")
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    held = RayReaders(CorporaSettings(ray=cluster.address, tavily_key="s3cret"), [str(tmp_path)])
    told = ray.get(held._all[0].__ray_call__.remote(lambda one: (dict(os.environ), one._settings.database)))
    assert told[0]["RAGWEAVE_OCR"] == "off" and told[1] == "" and "s3cret" not in str(told[0])
    held_there = held._all[0].__ray_call__.remote(lambda one: one._settings.tavily_key.get_secret_value())
    assert ray.get(held_there) == ""
    held.close()


def refused(held, path):
    with pytest.raises(SourceError) as error:
        held.read(str(path), "s", 60)
    return error.value.what


def wait_for(true):
    until = time.monotonic() + 120
    while not true():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.05)


LISTENING = """
import os, sys
from ragweave.corpora.ingest.cluster import RayReaders
from ragweave.corpora.settings import CorporaSettings

RayReaders(CorporaSettings(ray="local"), [sys.argv[1]])
import psutil  # Ray brings it

mine = {os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True))}
print(*{c.laddr.ip for c in psutil.net_connections("tcp") if c.status == "LISTEN" and c.pid in mine})
"""


def test_a_cluster_of_this_machine_listens_on_loopback_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTENING, str(tmp_path)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    heard = done.stdout.split()
    assert heard and all(ip.removeprefix("::ffff:").startswith("127.") for ip in heard), heard
