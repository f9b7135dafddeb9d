"""A real language model on llama.cpp, started once for all `llm` tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

GGUF = Path(
    os.environ.get("RAGWEAVE_TEST_GGUF")
    or Path(__file__).resolve().parents[2] / ".cache" / "llm" / "SmolLM2-135M-Instruct.Q4_1.gguf"
)
SLOTS = 4


@dataclass(frozen=True)
class LlmServer:
    """Where the model is served."""

    base_url: str
    key: str
    model: str = "local"


@pytest.fixture(scope="session")
def llm_process() -> Iterator[LlmServer]:
    """Serve the model on loopback with a key, four slots of 2,048 tokens each."""
    if not GGUF.is_file():
        pytest.skip(f"no language model at {GGUF}; `python tests/llm/fetch_model.py` puts one there")
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` serves the model")
    params = xllamacpp.CommonParams()
    params.model.path = str(GGUF)
    params.model_alias = {"local"}
    params.n_ctx, params.n_parallel = 2048 * SLOTS, SLOTS
    # One thread: with more, llama.cpp spins at its barriers and crawls on a busy machine.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.offline, params.ui, params.verbosity = True, False, -1
    params.api_keys = ["test-key"]
    server = xllamacpp.Server(params)
    yield LlmServer(server.listening_address + "/v1", "test-key")
    del server
    gc.collect()


@pytest.fixture
def llm_server(llm_process: LlmServer, monkeypatch: pytest.MonkeyPatch) -> LlmServer:
    """The served model, configured as the chat model of this test; replies are not cached."""
    monkeypatch.setenv("RAGWEAVE_CHAT", llm_process.model)
    monkeypatch.setenv("RAGWEAVE_CHAT_URL", llm_process.base_url)
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY", llm_process.key)
    monkeypatch.setenv("RAGWEAVE_CHAT_WIDTH", str(SLOTS))
    monkeypatch.setenv("RAGWEAVE_CHAT_CACHE", "false")
    monkeypatch.setenv("RAGWEAVE_CHAT_TEMPERATURE", "0")
    # A small model may never stop by itself; this ends its reply instead.
    monkeypatch.setenv("RAGWEAVE_CHAT_TOKENS", "128")
    from ragweave.models.settings import model_settings

    model_settings.cache_clear()
    return llm_process
