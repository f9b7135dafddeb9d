"""Text encoders of transformers (extra `hf`): in batches, on a GPU where there is one (RAGWEAVE_DEVICE)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from ragweave.models.checkpoint_files import load_encoder, torch_and_transformers
from ragweave.models.encoders import BATCH, SMALL
from ragweave.models.failures import loading

LONGEST = 512
"""Tokens of a text that are read."""
_FIRST = re.compile(r"bge-|mxbai-embed|arctic-embed", re.I)
"""Families whose vector is the state of the first token; of any other it is the mean over the tokens."""


def opened(model: str) -> tuple[Callable[[list[str]], Any], int]:
    """Return what turns a batch of texts into vectors (n, dim), and how many texts a batch has.

    `model` is a folder, or OWNER/NAME@COMMIT of the hub.

    Raises:
        MissingExtra: transformers is not installed.
        ModelError, WeightsError: the model cannot be had or opened.
    """
    what, hint = f"the encoder hf:{model}", "name an encoder of texts that was saved as safetensors"
    torch, _ = torch_and_transformers(what)
    net, tokenizer, _ = load_encoder(what, model, hint)
    with loading(what, "hf", hint):
        longest = min(LONGEST, int(net.config.max_position_embeddings))
    first, lock = bool(_FIRST.search(model)), threading.Lock()

    def embed(texts: list[str]) -> Any:
        with lock, torch.inference_mode():
            # Some tokenisers also give segment ids, which not every model takes.
            options = {"return_token_type_ids": False, "return_tensors": "pt", "max_length": longest}
            tokens = tokenizer(texts, padding=True, truncation=True, **options).to(net.device)
            states = net(**tokens).last_hidden_state.float()
            if first:
                return states[:, 0].cpu().numpy()
            weights = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
            return ((states * weights).sum(1) / weights.sum(1)).cpu().numpy()

    return embed, SMALL if net.device.type == "cpu" else BATCH
