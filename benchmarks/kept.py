"""Compare two of our own parts with plain ones: the router's head, and the table of encodings.

    python benchmarks/kept.py [--data DATA]

DATA/router has the public questions that the head is trained on. A linear head (logistic regression) is
trained on the same public and template questions, once over the embedding alone and once over all features of
the head. The encodings are those of the samples in tests/corpora/golden/encodings.txt.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from charset_normalizer import from_bytes
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from ragweave.corpora import encodings
from ragweave.evals.data import read_jsonl
from ragweave.evals.metrics import ece
from ragweave.evals.templates import template_questions
from ragweave.models import router
from ragweave.models.router_features import PLACES, read

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", ROOT.parent / "shared" / "data"))
SAMPLES = ROOT / "tests" / "corpora" / "golden" / "encodings.txt"
SCALE = 4.0
"""Factor of the features: the penalty of the regression expects features of length 1."""
FRESH = (
    ("cp1252", "Die Straßenbahn fährt heute später, weil die Brücke überprüft wird."),
    ("cp1252", "El año pasado la cosecha de algodón llegó más tarde que nunca."),
    ("cp1252", "La réunion a été reportée à février; les élèves seront prévenus."),
    ("cp1250", "Pociąg do Łodzi odjeżdża później, bo naprawiają most nad rzeką."),
    ("cp1250", "Příští schůzi povede ředitelka školy, začneme v šest hodin večer."),
    ("cp1251", "Поезд опоздал на час, потому что мост через реку чинили до вечера."),
    ("koi8-r", "Завтра в школе будет собрание, начало в шесть часов вечера."),
    ("cp1253", "Η συνάντηση αναβλήθηκε για την επόμενη εβδομάδα λόγω της βροχής."),
    ("cp1254", "Köprü onarıldığı için tren bugün bir saat geç kalkacak."),
    ("cp1257", "Traukinys vėluoja valandą, nes tiltas per upę dar taisomas."),
    ("gb18030", "会议改到下星期三下午，请大家带上上个月的报告。"),
    ("cp932", "会議は来週の水曜日に変わりました。先月の報告書を持って来てください。"),
    ("cp949", "회의가 다음 주 수요일로 바뀌었습니다. 지난달 보고서를 가져오세요."),
)
"""Texts that the table was not made from: an encoding, a text."""
COPIES = (1, 12)
"""How often a file repeats its sample."""


def features(questions: Sequence[str], whole: bool) -> Any:
    """Return the embeddings of questions, with all hashed bags of the head if `whole`."""
    found = read(questions)
    parts = [sparse.csr_matrix(found.vectors)]
    for name, bags in found.bags.items() if whole else ():
        lengths = np.array(list(map(len, bags)))
        starts = np.concatenate([[0], np.cumsum(lengths)])
        values = np.repeat(1 / np.maximum(1, lengths) ** 0.5, lengths)
        values = values * router.SHARES[name] ** 0.5
        parts.append(sparse.csr_matrix((values, np.concatenate(bags), starts), (len(bags), PLACES[name])))
    return SCALE * sparse.hstack(parts).tocsr()


def routed(data: Path) -> None:
    """Print how often each head is right, and its calibration error."""
    labels = list(router.head().labels)
    taught: list[str] = []
    numbers: list[int] = []
    """The label of each question by its number."""
    for row in read_jsonl(data / "router" / "router_dev.jsonl"):
        taught.append(row["query"])
        numbers.append(labels.index(row["label"]))
    for made in template_questions():
        taught.append(made.query)
        numbers.append(labels.index(made.label))
    sets = {
        "probe": ROOT / "evals" / "router_probe.jsonl",
        "people's own": data / "router_own" / "own_dev.jsonl",
    }
    heads: dict[str, Any] = {"kernel machines": lambda asked: router.head().probabilities(asked)}
    for name, whole in (("linear, embedding", False), ("linear, all features", True)):
        model = LogisticRegression(max_iter=300)
        model.fit(features(taught, whole), numbers)
        heads[name] = lambda asked, model=model, whole=whole: model.predict_proba(features(asked, whole))
    print("| questions | head | right | ECE |\n|---|---|---|---|")
    for title, path in sets.items():
        rows = read_jsonl(path)
        gold = np.array([labels.index(row["label"]) for row in rows])
        for name, head in heads.items():
            likely = head([row["query"] for row in rows])
            right = likely.argmax(axis=1) == gold
            error = ece(likely.max(axis=1).tolist(), right.tolist())
            print(f"| {title} ({len(rows)}) | {name} | {right.mean():.3f} | {error:.3f} |")


def detected(data: bytes) -> str:
    """Return the encoding that charset-normalizer takes for the best."""
    best = from_bytes(data).best()
    return best.encoding if best else ""


def decoded() -> None:
    """Print what each way reads right of the samples, and of texts that the table was not made with."""
    samples: list[tuple[str, str]] = []
    for line in SAMPLES.read_text(encoding="utf-8").splitlines():
        encoding, _, text = line.partition(" ")
        samples.append((encoding, json.loads(text)))
    sets = {"samples": samples, "fresh": [*FRESH]}
    print("| texts | encodings told by | copies | read right | of |\n|---|---|---|---|---|")
    for title, rows in sets.items():
        read_right(title, rows)


def read_right(title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Print how many texts each way reads without a wrong character."""
    for name, detect in (("table", encodings.told), ("charset-normalizer", detected)):
        for copies in COPIES:
            right = 0
            for encoding, written in rows:
                text = "\n".join([written] * copies)
                data = text.encode(encoding)
                right += data.decode(detect(data) or "cp1252", "replace") == text
            print(f"| {title} | {name} | {copies} | {right} | {len(rows)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    decoded()
    print()
    routed(given.data)
