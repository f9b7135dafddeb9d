"""Text encoders of transformers (extra `hf`): in batches, on a GPU where there is one."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from ragweave.models.checkpoint_files import find, quiet, read_config, torch_and_transformers
from ragweave.models.failures import loading

LONGEST = 512
"""Tokens of a text that are read."""
_FIRST = re.compile(r"bge-|mxbai-embed|arctic-embed", re.I)
"""Families whose vector is the state of the first token; of any other it is the mean over the tokens."""


def opened(model: str) -> Callable[[list[str]], Any]:
    """Return what turns a batch of texts into vectors (n, dim).

    `model` is a folder, or OWNER/NAME@COMMIT of the hub.

    Raises:
        MissingExtra: transformers is not installed.
        ModelError, WeightsError: the model cannot be had or opened.
    """
    torch, transformers = torch_and_transformers(f"the encoder hf:{model}")
    folder = find(model)
    read_config(folder)
    with loading(f"the encoder hf:{model}", "hf", "name an encoder of texts that was saved as safetensors"):
        with quiet(transformers.utils.logging):
            common = {"local_files_only": True, "trust_remote_code": False}
            net = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, dtype=torch.float32, **common)
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **common)
        net = net.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        longest = min(LONGEST, int(net.config.max_position_embeddings))
    first, lock = bool(_FIRST.search(model)), threading.Lock()

    def embed(texts: list[str]) -> Any:
        with lock, torch.inference_mode():
            # Some tokenisers also give segment ids, which not every model takes.
            options = {"return_token_type_ids": False, "return_tensors": "pt", "max_length": longest}
            tokens = tokenizer(texts, padding=True, truncation=True, **options).to(net.device)
            states = net(**tokens).last_hidden_state
            if first:
                return states[:, 0].cpu().numpy()
            weights = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
            return ((states * weights).sum(1) / weights.sum(1)).cpu().numpy()

    return embed
