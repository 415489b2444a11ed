"""A transformer that reads a question and an answer together and scores the pair from its first token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from demur.errors import UsageError, require

if TYPE_CHECKING:
    import torch

_HEAD = "demur_head"  # what a network's folder calls it


def load(model: str, revision: str | None = None) -> torch.nn.Module:
    """A Hugging Face encoder with one output; a missing scoring head is drawn by torch's seed.

    Of a classifier with two labels, as published rankers often are, it is how far the second is before the
    first; one with more gets a new head.
    """
    require("torch", extra="encoder")
    transformers: Any = require("transformers", extra="encoder")
    config = transformers.AutoConfig.from_pretrained(
        model, revision=revision or "main", trust_remote_code=False
    )
    classifies = any("ForSequenceClassification" in each for each in config.architectures or ())
    labels = config.num_labels if classifies else 1
    network: torch.nn.Module = transformers.AutoModelForSequenceClassification.from_pretrained(
        model,
        num_labels=2 if labels == 2 else 1,
        ignore_mismatched_sizes=labels > 2,
        revision=revision or "main",
        use_safetensors=True,  # other files may run code when they are read
        trust_remote_code=False,
    )
    if getattr(config, _HEAD, "") == "first":
        _bypass(network)
    return _difference(network, model) if labels == 2 else network


def score_first(network: torch.nn.Module) -> None:
    """Let a network score the first token's last state itself, and not what its pooler makes of that.

    Its head begins anew, drawn by torch's seed, unless it does so already. Saved, it stays so.
    """
    import torch

    config: Any = network.config
    if getattr(config, _HEAD, "") == "first":
        return
    head, base = getattr(network, "classifier", None), getattr(network, "base_model", None)
    if not isinstance(head, torch.nn.Linear) or getattr(base, "pooler", None) is None:
        what = f"{type(network).__name__} scores by a head of its own, not by a line over its pooler"
        raise UsageError(f"{what}; leave out head, or use an encoder of BERT's kind")
    torch.nn.init.normal_(head.weight, std=getattr(config, "initializer_range", 0.02))
    torch.nn.init.zeros_(head.bias)
    setattr(config, _HEAD, "first")
    _bypass(network)


def _bypass(network: Any) -> None:
    """Return what the pooler is given of the first token, in the pooler's place."""
    import torch

    class First(torch.nn.Module):
        def forward(self, states: torch.Tensor) -> torch.Tensor:
            return states[:, 0]  # pairs × width

    network.base_model.pooler = First()


def _difference(network: Any, model: str) -> torch.nn.Module:
    """A network with two outputs, whose only one is now the second less the first."""
    import torch

    parts = network.named_modules()
    heads = [name for name, part in parts if getattr(part, "out_features", 0) == 2 and hasattr(part, "bias")]
    if not heads:
        raise UsageError(
            f"{model} has two labels, but no linear layer that tells them apart; take another base"
        )
    place, _, name = heads[-1].rpartition(".")
    two = network.get_submodule(heads[-1])
    one = torch.nn.Linear(two.in_features, 1, bias=two.bias is not None)
    with torch.no_grad():
        one.weight.copy_(two.weight[1:] - two.weight[:1])
        if two.bias is not None:
            one.bias.copy_(two.bias[1:] - two.bias[:1])
    setattr(network.get_submodule(place), name, one)
    network.config.num_labels = network.num_labels = 1
    changed: torch.nn.Module = network
    return changed


def score(network: torch.nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """One number per pair.

    The batch holds ``input_ids``, ``attention_mask`` and perhaps ``token_type_ids``: pairs × tokens.
    """
    logits: torch.Tensor = network(**batch).logits  # pairs × 1
    return logits[:, 0].float()  # pairs


def freeze_words(network: torch.nn.Module) -> None:
    """Leave the word embeddings as they are: half of a small model's weights, and few of them are met."""
    embeddings: Any = getattr(network, "get_input_embeddings")()  # noqa: B009  # a Hugging Face model's
    embeddings.weight.requires_grad_(False)


def with_kinds(network: torch.nn.Module, kinds: int) -> None:
    """Let a network tell so many kinds of texts apart; new kinds begin as the last one that it knows.

    One that knows no kinds at all, such as MPNet, stays as it is: it tells texts apart by what parts them.
    """
    import torch

    embeddings: Any = next((m for m in network.modules() if hasattr(m, "token_type_embeddings")), None)
    if embeddings is None:
        return
    known = embeddings.token_type_embeddings.weight.detach()
    if kinds <= len(known):
        return
    table = torch.nn.Embedding(kinds, known.shape[1])
    with torch.no_grad():
        table.weight.copy_(torch.cat([known, known[-1:].expand(kinds - len(known), -1)]))
    embeddings.token_type_embeddings = table
    config: Any = network.config
    config.type_vocab_size = kinds
