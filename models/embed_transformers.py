"""Encode texts in batches with transformers (extra `hf`), on a GPU if there is one (RAGWEAVE_DEVICE)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from ragweave.models.checkpoint_files import load_encoder, torch_and_transformers
from ragweave.models.encoders import BATCH, SMALL
from ragweave.models.failures import loading

LONGEST = 512
"""Most tokens of a text."""
_FIRST = re.compile(r"bge-|mxbai-embed|arctic-embed", re.I)
"""Families whose vector is the state of the first token; for others it is the mean of all tokens."""


def opened(model: str) -> tuple[Callable[[list[str]], Any], int]:
    """Return a function that encodes a batch of texts as (n, dim), and the batch size.

    `model` is a folder, or OWNER/NAME@COMMIT of the hub.

    Raises:
        MissingExtra: if transformers is not installed.
        ModelError, WeightsError: if the model cannot be found or opened.
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
