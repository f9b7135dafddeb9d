"""Download the published weights of the papers at one commit of the hub.

The first download stores the commit that the hub names; later downloads use the same commit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from ragweave.models.checkpoint_files import WANTED
from ragweave.models.errors import WeightsError
from ragweave.models.hub import described, fetch
from ragweave.models.settings import model_settings


@dataclass(frozen=True)
class PaperWeights:
    """Weights of a paper.

    Attributes:
        what: their part in the method.
        repo: OWNER/NAME on the hub; "" if the authors publish them elsewhere.
        settings: settings to write after the download; {repo}, {commit} and {folder} are filled in.
        page: address of the weights if they are not on the hub.
        then: what the user has to do afterwards, filled in the same way.
        files: patterns of the needed files.
    """

    what: str
    repo: str
    settings: Mapping[str, str]
    page: str = ""
    then: str = ""
    files: tuple[str, ...] = WANTED


_EMBED = {"RAGWEAVE_EMBED": "hf:{repo}@{commit}"}
_CTRANSLATE2 = ("config.json", "model.bin", "tokenizer.json", "vocabulary.*", "preprocessor_config.json")
_DRIVE = "https://drive.google.com/drive/folders/1CRFGsyNguXJwKSvFvJm_82GOOlkWSkW7"
PAPERS: Mapping[str, tuple[PaperWeights, ...]] = {
    "universal-rag": (PaperWeights("text encoder", "BAAI/bge-large-en-v1.5", _EMBED),),
    "rag-fusion": (PaperWeights("text encoder", "sentence-transformers/all-MiniLM-L6-v2", _EMBED),),
    "crag": (PaperWeights("T5-large evaluator", "", {"RAGWEAVE_EVALUATOR": "{repo}@{commit}"}, _DRIVE),),
    "auto-rag": (
        PaperWeights(
            "tuned chat model",
            "ICTNLP/Auto-RAG-Llama-3-8B-Instruct",
            {
                "RAGWEAVE_REASONER": "openai:auto-rag",
                "RAGWEAVE_REASONER_URL": "http://127.0.0.1:8000/v1",
                "RAGWEAVE_REASONER_KEY": "none",
            },
            then="Serve it: vllm serve {folder} --max-model-len 8192 --served-model-name auto-rag",
        ),
        PaperWeights("text encoder", "intfloat/e5-base-v2", _EMBED),
    ),
    "video-rag": (
        PaperWeights(
            "speech recognition",
            "Systran/faster-distil-whisper-large-v3",
            {"RAGWEAVE_ASR": "whisper:{repo}@{commit}"},
            files=_CTRANSLATE2,
        ),
    ),
}


@dataclass(frozen=True)
class HubCommit:
    """A repository at one commit of the hub; `files` holds the sha256 of each file, or "" if not stated."""

    repo: str
    commit: str
    licence: str
    bytes: int
    files: Mapping[str, str] = field(default_factory=dict)

    def fetch(self) -> Path:
        """Download missing files, store the commit, and return the folder.

        Raises:
            WeightsError: if the hub may not be used, cannot be reached, or sends other files than stated.
        """
        stated: dict[str, str] = {}
        for file, digest in self.files.items():
            if digest:
                stated[file] = digest
        folder = fetch(self.repo, self.commit, list(self.files), sha256=stated)
        path = _pins()
        path.write_text(json.dumps({**_pinned(), self.repo: self.commit}, indent=1), encoding="utf-8")
        return folder


def resolve(weights: PaperWeights, named: str = "") -> HubCommit:
    """Return the files of a download at the named commit, the stored one, or the newest.

    `named` is OWNER/NAME or OWNER/NAME@COMMIT and replaces the repository of the paper.

    Raises:
        WeightsError: if the hub may not be used, cannot be reached, or does not have the repository.
    """
    repo, _, commit = (named or weights.repo).partition("@")
    info = described(repo, commit or _pinned().get(repo))
    files: dict[str, str] = {}
    size, has_weights = 0, False
    for file in info.siblings:
        name = file.rfilename
        if "/" in name or not _matches(name, weights.files):
            continue
        files[name] = file.lfs.sha256 if file.lfs else ""
        size += file.size or 0
        has_weights = has_weights or name.endswith((".safetensors", ".bin"))
    if not has_weights:
        raise WeightsError(
            f"{repo} has no weights as safetensors", "see docs/checkpoints.md for a copy that has"
        )
    licence = str(info.card_data.get("license") or "") if info.card_data else ""
    return HubCommit(repo, str(info.sha), licence or "not stated", size, files)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    for pattern in patterns:
        if fnmatch(name, pattern):
            return True
    return False


def _pins() -> Path:
    """Return the file that stores the commits."""
    folder = model_settings().weights
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "commits.json"


def _pinned() -> dict[str, str]:
    """Return the commit of each repository that was downloaded before."""
    try:
        held = json.loads(_pins().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}
