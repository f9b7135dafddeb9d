"""The weights that the papers ran with, as far as their authors publish them, fetched at one commit of the hub.

No commit is known beforehand: the one that the hub names at the first download is written down and held from
then on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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
        repo: OWNER/NAME on the hub; "" where the authors publish them elsewhere.
        settings: what is written once they are here; {repo}, {commit} and {folder} are filled.
        page: where they are published, if not on the hub.
        then: what is left to do by hand, likewise filled.
        files: patterns of the files that are needed.
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
    """What the hub says of a repository at one commit; `files` have their sha256, "" where it states none."""

    repo: str
    commit: str
    licence: str
    bytes: int
    files: Mapping[str, str] = field(default_factory=dict)

    def fetch(self) -> Path:
        """Download what is not here, hold the commit from now on, and return the folder.

        Raises:
            WeightsError: the hub may not be used, cannot be reached, or has other files than it said.
        """
        folder = fetch(
            self.repo, self.commit, list(self.files), sha256={f: d for f, d in self.files.items() if d}
        )
        path = _pins()
        path.write_text(json.dumps({**_pinned(), self.repo: self.commit}, indent=1), encoding="utf-8")
        return folder


def resolve(weights: PaperWeights, named: str = "") -> HubCommit:
    """Ask the hub what a download would bring, at the commit that is named, or held, or newest.

    `named` is OWNER/NAME or OWNER/NAME@COMMIT in place of the repository of the paper.

    Raises:
        WeightsError: the hub may not be used, cannot be reached, or does not have it.
    """
    repo, _, commit = (named or weights.repo).partition("@")
    info = described(repo, commit or _pinned().get(repo))
    wanted = [s for s in info.siblings if any(fnmatch(s.rfilename, pattern) for pattern in weights.files)]
    files = {s.rfilename: s.lfs.sha256 if s.lfs else "" for s in wanted if "/" not in s.rfilename}
    if not any(name.endswith((".safetensors", ".bin")) for name in files):
        raise WeightsError(
            f"{repo} has no weights as safetensors", "see docs/checkpoints.md for a copy that has"
        )
    size = sum(s.size or 0 for s in wanted if s.rfilename in files)
    licence = str(info.card_data.get("license") or "") if info.card_data else ""
    return HubCommit(repo, str(info.sha), licence or "not stated", size, files)


def _pins() -> Path:
    folder = model_settings().weights
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "commits.json"


def _pinned() -> dict[str, str]:
    """Return the commit of each repository that was fetched before."""
    try:
        held = json.loads(_pins().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}
