"""One small network for three things: how well a passage answers, where the answer stands, how sure that is.

b windows of a question and a passage, t tokens each, d numbers in a state, L layers. The score is that of a
cross-encoder; two numbers per token say where the answer starts and ends; a probe of each layer but the last
(Alain and Bengio 2016) says the same by that layer's states, which it leaves alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from demur.errors import DataError
from demur.nets.transformers import cross_encoder

HEADS = "heads.safetensors"
_QUICKER = 30.0  # probes learn so many times as fast as the rest, beside which they have little to learn


class Mini(nn.Module):
    """A cross-encoder whose tokens say more: see above."""

    def __init__(self, scorer: nn.Module) -> None:
        super().__init__()
        self.scorer = scorer
        config: Any = scorer.config
        self.config = config
        wide = int(config.hidden_size)
        self.span = nn.Linear(wide, 2)
        nn.init.normal_(self.span.weight, std=0.02)
        nn.init.zeros_(self.span.bias)
        # L - 1 × d × 2; each problem is convex, so they may start at nothing
        self.probes = nn.Parameter(torch.zeros(int(config.num_hidden_layers) - 1, wide, 2))

    def forward(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Scores: b; starts and ends: b × 2 × t; the same by each probe: b × L - 1 × 2 × t."""
        found = self.scorer(**batch, output_hidden_states=True)
        states = found.hidden_states  # L + 1, each b × t × d: the words' embeddings come first
        spans = self.span(states[-1]).float().transpose(1, 2)
        shown = [
            (state.detach() @ probe).float().transpose(1, 2)
            for state, probe in zip(states[1:-1], self.heads(), strict=True)
        ]
        layers = torch.stack(shown, 1) if shown else spans[:, None, :, :][:, :0]
        return found.logits[:, 0].float(), spans, layers

    def heads(self) -> Tensor:
        """The probes as they are used: L - 1 × d × 2."""
        return self.probes * _QUICKER

    def get_input_embeddings(self) -> nn.Module:
        """The words' embeddings, as Hugging Face's models call them."""
        found: nn.Module = self.scorer.get_input_embeddings()  # type: ignore[operator]
        return found

    def save_pretrained(self, folder: Path) -> None:
        """Write the cross-encoder as Hugging Face does, and the heads beside it."""
        self.scorer.save_pretrained(folder)  # type: ignore[operator]
        heads = {name: value for name, value in self.state_dict().items() if not name.startswith("scorer.")}
        save_file({name: value.cpu().contiguous() for name, value in heads.items()}, Path(folder) / HEADS)


def load(model: str) -> Mini:
    """A network from a folder, or from any Hugging Face encoder; what is missing is drawn by torch's seed."""
    made = Mini(cross_encoder.load(model))
    path = Path(model) / HEADS
    if path.is_file():
        heads = load_file(path)
        wanted = {name for name in made.state_dict() if not name.startswith("scorer.")}
        if set(heads) != wanted:
            raise DataError("holds other heads than this network has", path=path, fix="train it again")
        made.load_state_dict(heads, strict=False)
    return made


def freeze_words(network: Mini) -> None:
    """Leave the word embeddings as they are: half of a small model's weights, and few of them are met."""
    cross_encoder.freeze_words(network)
