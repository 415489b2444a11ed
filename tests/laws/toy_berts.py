"""Tiny transformers that have learnt nothing, made once, and the folder for all toys."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

WORDS = ["ship", "sailed", "round", "cape", "may", "nothing", "cafe", "café", "abc", "हिन्दी", "🎉", "the"]

P = ParamSpec("P")
T = TypeVar("T")
without_torch: list[str] = []
"""The test that runs, if it is one of those that must pass without torch; tests/conftest.py says so."""


def of_torch(make: Callable[P, T]) -> Callable[P, T]:
    """A toy that is made once, by torch: an error in a test of what the core can do, where torch is not."""
    kept = cache(make)

    @wraps(make)
    def made(*args: P.args, **settings: P.kwargs) -> T:
        fix = "mark it extras, or name its file in tests/extras.txt"
        assert not without_torch, f"{without_torch[0]} takes {make.__name__}, which torch makes; {fix}"
        return kept(*args, **settings)  # type: ignore[arg-type]  # all toys are named by strings

    return made


@cache
def folder() -> Path:
    """A folder for toys, gone when the process ends."""
    made = tempfile.TemporaryDirectory(prefix="demur-toys-")
    atexit.register(made.cleanup)
    return Path(made.name)


def bert(pooling: str = "", normalize: bool = False, positions: int = 48) -> str:
    """A folder with a BERT that has learnt nothing; with `pooling` as sentence-transformers keeps it."""
    return _bert(pooling, normalize, positions)


def _vocabulary(*marks: str) -> dict[str, int]:
    """The numbers of these marks and of the pieces that all toys know."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789?!.,'船🎉"
    pieces = [*marks, *letters, *(f"##{c}" for c in letters), *WORDS, "##ed", "quest"]
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


@of_torch
def _bert(pooling: str, normalize: bool, positions: int) -> str:
    import json

    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from demur.embedders.encoders.loading import quietly

    vocabulary = _vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]")
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    special = {f"{each}_token": f"[{each.upper()}]" for each in ("pad", "unk", "cls", "sep")}
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(
        vocab_size=len(vocabulary), max_position_embeddings=positions, initializer_range=0.5, **sizes
    )
    path = folder() / "bert" / (pooling or "plain") / f"{normalize}-{positions}"
    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(config).save_pretrained(path)
        names = ["input_ids", "token_type_ids", "attention_mask"]
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, model_input_names=names, model_max_length=positions, **special
        ).save_pretrained(path)
    if pooling:
        kinds = ["Transformer", "Pooling", "Normalize"][: 3 if normalize else 2]
        steps = [
            {
                "idx": n,
                "name": str(n),
                "path": f"{n}_{kind}" if n else "",
                "type": f"sentence_transformers.models.{kind}",
            }
            for n, kind in enumerate(kinds)
        ]
        (path / "modules.json").write_text(json.dumps(steps), "utf-8")
        (path / "1_Pooling").mkdir()
        pooled = {"word_embedding_dimension": 16, f"pooling_mode_{pooling}": True}
        (path / "1_Pooling" / "config.json").write_text(json.dumps(pooled), "utf-8")
    return str(path)


@of_torch
def classifier() -> str:
    """A folder with that BERT as a sequence classifier of one output."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from demur.embedders.encoders.loading import quietly

    path = folder() / "classifier"
    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        AutoModelForSequenceClassification.from_pretrained(bert(), num_labels=1).save_pretrained(path)
        AutoTokenizer.from_pretrained(bert()).save_pretrained(path)
    return str(path)


@of_torch
def answerer() -> str:
    """A folder with that BERT as a reader: two outputs for each token."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    from demur.embedders.encoders.loading import quietly

    path = folder() / "answerer"
    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        AutoModelForQuestionAnswering.from_pretrained(bert()).save_pretrained(path)
        AutoTokenizer.from_pretrained(bert()).save_pretrained(path)
    return str(path)


@of_torch
def other_bert() -> str:
    """A folder with a BERT like that one, with other weights."""
    import torch
    from transformers import AutoConfig, AutoTokenizer, BertModel

    from demur.embedders.encoders.loading import quietly

    path = folder() / "other-bert"
    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        BertModel(AutoConfig.from_pretrained(bert())).save_pretrained(path)
        AutoTokenizer.from_pretrained(bert()).save_pretrained(path)
    return str(path)


@of_torch
def mpnet() -> str:
    """A folder with an MPNet that has learnt nothing: its positions are relative, its marks RoBERTa's."""
    import torch
    from transformers import MPNetConfig, MPNetModel, MPNetTokenizer

    from demur.embedders.encoders.loading import quietly

    vocabulary = _vocabulary("<s>", "<pad>", "</s>", "[UNK]", "<mask>")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = MPNetConfig(
        vocab_size=len(vocabulary), max_position_embeddings=50, initializer_range=0.5, **sizes
    )
    path = folder() / "mpnet"
    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(12)
        MPNetModel(config).save_pretrained(path)
        MPNetTokenizer(vocab=vocabulary, model_max_length=48).save_pretrained(path)
    return str(path)
