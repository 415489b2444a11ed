"""A cross-encoder whose score of an answer also hangs on what each of some supports says of it.

After the answer support-based reranker (Zhang, Vu, Moschitti 2021): of a question and an answer the encoder
makes a vector E, of the answer beside each support a vector E_i, and a line over E and the largest of each
number of the E_i scores the answer. Here one encoder makes both, and the half of that line which sees E is
the cross-encoder's own head. The other half begins as zeros: it then scores as that cross-encoder does.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn

from demur.nets.transformers import cross_encoder
from demur.nets.transformers.features import caught

WEIGHTS = "support.safetensors"
NONE = -1  # in a row of places: no support


class Support(nn.Module):
    """A network of Hugging Face's kind with one output, and a line over the largest of its supports."""

    def __init__(self, pair: nn.Module) -> None:
        super().__init__()
        self.pair: Any = pair
        config: Any = pair.config
        self.support = nn.Linear(int(config.hidden_size), 1, bias=False)
        nn.init.zeros_(self.support.weight)

    def forward(self, supports: Tensor | None = None, **batch: Tensor) -> SimpleNamespace:
        """The scores of n answers as ``logits``, n × 1.

        The first n rows of the batch are of the answers alone; `supports` says which of the further rows are
        theirs: n × k places of rows, or `NONE`. Without it there are no supports.
        """
        logits, features = self.read(batch)  # rows, rows × d
        if supports is not None:
            logits = self.judged(logits[: len(supports)], features, supports)  # n
        return SimpleNamespace(logits=logits[:, None])

    def read(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """What the cross-encoder scores each row, and the vector it makes of it: rows, and rows × d."""
        with caught(self.pair, "pooled") as held:
            logits = self.pair(**batch).logits[:, 0]
            return logits.float(), held[0].float()

    def judged(self, alone: Tensor, features: Tensor, supports: Tensor) -> Tensor:
        """The scores of answers, n, with what their supports say: `features` of rows, and n × k places."""
        found: Tensor = alone + self.support(largest(features, supports))[:, 0]
        return found

    @property
    def config(self) -> Any:
        """What the cross-encoder is configured as."""
        return self.pair.config

    @property
    def base_model(self) -> Any:
        """The encoder."""
        return self.pair.base_model

    @property
    def classifier(self) -> Any:
        """The cross-encoder's own head, if it is called so."""
        return getattr(self.pair, "classifier", None)

    def get_input_embeddings(self) -> Any:
        """The embeddings of words."""
        return self.pair.get_input_embeddings()

    def save_pretrained(self, folder: Path) -> None:
        """Write the cross-encoder as it would be by itself, and the line beside it."""
        from safetensors.torch import save_file

        self.pair.save_pretrained(folder)
        save_file({"weight": self.support.weight.detach().cpu().contiguous()}, Path(folder) / WEIGHTS)


def largest(features: Tensor, supports: Tensor) -> Tensor:
    """The largest of each number over the supports of each answer, n × d; zeros where it has none."""
    none = supports == NONE  # n × k
    shown = features[supports.clamp(min=0)].masked_fill(none[:, :, None], float("-inf"))  # n × k × d
    return shown.amax(1).masked_fill(none.all(1)[:, None], 0.0)


def load(model: str) -> Support:
    """The network in a folder; around an ordinary cross-encoder there, supports say nothing yet."""
    network = Support(cross_encoder.load(model))
    kept = Path(model) / WEIGHTS
    if kept.is_file():
        from safetensors.torch import load_file

        network.support.load_state_dict(load_file(kept))
    return network
