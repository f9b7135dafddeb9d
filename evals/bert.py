"""BERTScore of answers, by the package of its authors and weights of your own (Zhang et al. 2020).

Nothing is downloaded: the weights are a folder. Values of different weights, or of different layers, do not
compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ragweave.evals.bench.run import ScoredSet
from ragweave.models.device import torch_device
from ragweave.models.errors import InputError, WeightsError
from ragweave.models.failures import loading

SKIPPED = (
    "BERTScore is not counted: no weights are named. Install the extra `bertscore`, and give their folder"
    " with --bertscore FOLDER[:LAYER]."
)
_REMEDY = "give the folder of a BERT or RoBERTa as transformers saves it"


class BertScore:
    """A model that compares two texts token by token.

    Attributes:
        name: folder and layer, as a report shows them.
    """

    def __init__(self, given: str) -> None:
        """Load the weights.

        Args:
            given: FOLDER or FOLDER:LAYER, the layer whose vectors are compared, from 1. Without it the layer
                is the one that the package knows for the name of the folder.

        Raises:
            InputError: the folder is not there, or its layer is not known.
            WeightsError: the folder holds no such model.
            MissingExtra: the package is not installed.
            ModelError: RAGWEAVE_DEVICE names a GPU that torch does not see.
        """
        folder, layer = _read(given)
        with loading("BERTScore", "bertscore"):
            import torch
            from bert_score import BERTScorer
            from bert_score.utils import model2layers
        layer = layer or model2layers.get(folder.name, 0)
        if not layer:
            raise InputError(
                f"which layer of {folder.name} is compared is not known",
                f"give it: --bertscore {folder}:LAYER",
            )
        try:
            self._scorer = BERTScorer(model_type=str(folder), num_layers=layer, device=torch_device(torch))
        except (OSError, ValueError, KeyError, AssertionError) as error:
            raise WeightsError(f"the weights in {folder} cannot be opened ({error})", _REMEDY) from error
        self.name = f"{folder.name}, layer {layer}"

    def scores(self, answers: Sequence[str], golds: Sequence[Sequence[str]]) -> list[float]:
        """Return the F1 of each answer with the gold answer that it is most like; 0 for an empty answer.

        Raises:
            WeightsError: the tokeniser of the weights does not say how long a text may be.
        """
        places, texts, references = list[int](), list[str](), list[list[str]]()
        for n, (answer, gold) in enumerate(zip(answers, golds, strict=True)):
            if answer.strip():
                places.append(n)
                texts.append(answer)
                references.append(list(gold))
        found = [0.0] * len(answers)
        if not places:
            return found
        try:
            _, _, f1 = self._scorer.score(texts, references)
        except OverflowError as error:
            remedy = 'set "model_max_length" in its tokenizer_config.json, 512 for most'
            raise WeightsError("the tokeniser states no longest text", remedy) from error
        for n, value in zip(places, f1.tolist(), strict=True):
            found[n] = float(value)
        return found


def _read(given: str) -> tuple[Path, int]:
    """Return folder and layer, 0 if none is given."""
    name, colon, layer = given.rpartition(":")
    if not (colon and layer.isdecimal()):
        name, layer = given, "0"
    folder = Path(name).expanduser()
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} is no folder of weights", _REMEDY)
    return folder.absolute(), int(layer)


def with_bert(rows: Sequence[ScoredSet], model: BertScore) -> list[ScoredSet]:
    """Return rows with their BERTScore if their set is scored by it and has gold answers."""
    places, shown, golds = list[int](), list[str](), list[tuple[str, ...]]()
    for n, row in enumerate(rows):
        outcome = row.outcome
        if "bert" in row.asked.set.metrics and outcome.question.answers:
            places.append(n)
            shown.append("" if outcome.answer.abstained else outcome.shown)
            golds.append(outcome.question.answers)
    values = model.scores(shown, golds)
    scored = [*rows]
    for n, value in zip(places, values, strict=True):
        scored[n] = replace(rows[n], bert=value)
    return scored
