"""THE list of what demur has by name: kind -> name -> "module:attribute".

Packages outside demur add to it by entry points in the group ``demur.<kind>``, such as ``demur.ranker``.
Nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from demur.errors import UnknownName, UsageError
from demur.renamed import new_name
from demur.specs import Setting, parse, spell, wrong

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OURS: dict[str, dict[str, str]] = {
    "ranker": {
        "acnn": "demur.rankers.match_nets.scan_nets:Acnn",
        "adaqa": "demur.rankers.match_nets.scan_nets:AdaQA",
        "alignment": "demur.rankers.alignment.alignment:Alignment",
        "anmm": "demur.rankers.match_nets.scan_nets:Anmm",
        "average": "demur.rankers.vectors.cosine:Average",
        "bi-encoder": "demur.rankers.vectors.bi_encoder:BiEncoder",
        "bidaf": "demur.reading.readers.bidaf:Bidaf",
        "bm25": "demur.rankers.lexical.bm25:BM25",
        "cnn": "demur.rankers.match_nets.scan_nets:Cnn",
        "committee": "demur.rankers.ensembles.committee:Committee",
        "comp-agg": "demur.rankers.match_nets.scan_nets:CompAgg",
        "concat": "demur.rankers.vectors.network:Concat",
        "cross-encoder": "demur.rankers.cross_encoders.cross_encoder:CrossEncoder",
        "deep-matching": "demur.rankers.match_nets.match_nets:DeepMatching",
        "drcn": "demur.rankers.match_nets.scan_nets:Drcn",
        "encoder": "demur.rankers.vectors.cosine:EncoderRanker",
        "feedback": "demur.rankers.vectors.feedback:Feedback",
        "forum-prior": "demur.rankers.forum_prior:ForumPrior",
        "fusion": "demur.rankers.ensembles.fusion:Fusion",
        "hyperqa": "demur.rankers.match_nets.scan_nets:HyperQA",
        "joint": "demur.rankers.cross_encoders.joint:Joint",
        "length": "demur.rankers.baselines:Length",
        "match-pyramid": "demur.rankers.match_nets.match_nets:MatchPyramid",
        "mini": "demur.reading.readers.mini:Mini",
        "mini-torch": "demur.reading.readers.mini_torch:MiniTorch",
        "multihop": "demur.rankers.match_nets.match_nets:Multihop",
        "onnx": "demur.rankers.cross_encoders.onnx:Onnx",
        "onnx-match": "demur.rankers.match_nets.onnx_match:OnnxMatch",
        "overlap": "demur.rankers.lexical.overlap:Overlap",
        "random": "demur.rankers.baselines:Random",
        "re2": "demur.rankers.match_nets.scan_nets:Re2",
        "siamese": "demur.rankers.vectors.network:Siamese",
        "span-reader": "demur.reading.readers.span_reader:SpanReader",
        "support": "demur.rankers.cross_encoders.support:Support",
        "twice": "demur.reading.readers.twice:Twice",
    },
    "reader": {  # they rank too, and so stand above as well
        "bidaf": "demur.reading.readers.bidaf:Bidaf",
        "mini": "demur.reading.readers.mini:Mini",
        "mini-torch": "demur.reading.readers.mini_torch:MiniTorch",
        "span-reader": "demur.reading.readers.span_reader:SpanReader",
        "twice": "demur.reading.readers.twice:Twice",
    },
    "doubt": {
        "averaged": "demur.doubt.base:Averaged",
        "learned": "demur.doubt.features:Learned",
        "proba": "demur.doubt.base:Proba",
        "probe-cnn": "demur.doubt.probing.probe_cnn:ProbeCNN",
    },
    "embedder": {
        "encoder": "demur.embedders.encoders.encoder:Encoder",
        "words": "demur.embedders.word_vectors.embedder:WordVectors",
    },
    "trainer": {
        "acnn": "demur.training.small_nets.scan_nets:Acnn",
        "adaqa": "demur.training.small_nets.scan_nets:AdaQA",
        "adversarial": "demur.training.committees.adversarial:Adversarial",
        "anmm": "demur.training.small_nets.scan_nets:Anmm",
        "bi-encoder": "demur.training.encoders.bi_encoder:BiEncoder",
        "bidaf": "demur.training.readers.trainers:Bidaf",
        "cnn": "demur.training.small_nets.scan_nets:Cnn",
        "comp-agg": "demur.training.small_nets.scan_nets:CompAgg",
        "concat": "demur.training.small_nets.vector_nets:Concat",
        "confident": "demur.training.labels.confident_learning:Confident",
        "cross-encoder": "demur.training.cross_encoders.cross_encoder:CrossEncoder",
        "curriculum": "demur.training.cross_encoders.curriculum:Curriculum",
        "debiased": "demur.training.cross_encoders.robust:Debiased",
        "deep-matching": "demur.training.small_nets.match_nets:DeepMatching",
        "distilled": "demur.training.cross_encoders.distilled:Distilled",
        "drcn": "demur.training.small_nets.scan_nets:Drcn",
        "ensemble": "demur.training.committees.ensemble:Ensemble",
        "group-dro": "demur.training.cross_encoders.robust:GroupDRO",
        "hyperqa": "demur.training.small_nets.scan_nets:HyperQA",
        "joint": "demur.training.cross_encoders.joint:Joint",
        "jtt": "demur.training.cross_encoders.robust:JustTrainTwice",
        "match-pyramid": "demur.training.small_nets.match_nets:MatchPyramid",
        "members": "demur.training.committees.members:Members",
        "mini": "demur.training.readers.mini:Mini",
        "multihop": "demur.training.small_nets.match_nets:Multihop",
        "re2": "demur.training.small_nets.scan_nets:Re2",
        "scan": "demur.training.cross_encoders.scan:Scan",
        "self": "demur.training.labels.self_training:SelfTraining",
        "siamese": "demur.training.small_nets.vector_nets:Siamese",
        "span-reader": "demur.training.readers.trainers:SpanReader",
        "support": "demur.training.cross_encoders.support:Support",
    },
    "dataset": {
        "antique": "demur.data.loaders.community.antique:LOADER",
        "asnq": "demur.data.loaders.asnq:LOADER",
        "covidfaq": "demur.data.loaders.community.covidfaq:LOADER",
        "example": "demur.asking.example:LOADER",
        "fiqa": "demur.data.loaders.community.fiqa:LOADER",
        "insuranceqa": "demur.data.loaders.community.insuranceqa:LOADER",
        "selqa": "demur.data.loaders.selqa:LOADER",
        "semeval2016": "demur.data.loaders.community.semeval2016:LOADER",
        "sogourc": "demur.data.loaders.sogourc:LOADER",
        "squad": "demur.data.loaders.squad:LOADER",
        "squad-t": "demur.data.loaders.squad:SENTENCES",
        "trecqa": "demur.data.loaders.trecqa:LOADER",
        "wikiqa": "demur.data.loaders.wikiqa:LOADER",
        "yahoocqa": "demur.data.loaders.community.yahoocqa:LOADER",
    },
    "measure": {
        "AP": "demur.evaluation.measures:MAP",
        "AP-error": "demur.evaluation.selective.measures:APerror",
        "AUGRC": "demur.evaluation.selective.measures:AUGRC",
        "AURC": "demur.evaluation.selective.measures:AURC",
        "AUROC": "demur.evaluation.selective.measures:AUROC",
        "Coverage": "demur.evaluation.selective.measures:Coverage",
        "E-AURC": "demur.evaluation.selective.measures:EAURC",
        "MAP": "demur.evaluation.measures:MAP",
        "MRR": "demur.evaluation.measures:RR",
        "P": "demur.evaluation.measures:P",
        "R": "demur.evaluation.measures:R",
        "RR": "demur.evaluation.measures:RR",
        "Risk": "demur.evaluation.selective.measures:Risk",
        "Success": "demur.evaluation.measures:Success",
        "nDCG": "demur.evaluation.measures:nDCG",
    },
    "qualifier": {
        "agreement": "demur.risk.qualifiers.agreement:Agreement",
        "committee": "demur.doubt.committee:Disagreement",
        "coverage": "demur.risk.qualifiers.coverage:Coverage",
        "entropy": "demur.risk.qualifiers.base:Entropy",
        "learned": "demur.risk.qualifiers.learned:Learned",
        "margin": "demur.risk.qualifiers.base:Margin",
        "mini": "demur.doubt.mini:MiniQualifier",
        "reading": "demur.doubt.qualifier:Reading",
        "size": "demur.risk.qualifiers.base:Size",
        "softmax": "demur.risk.qualifiers.base:Softmax",
        "top": "demur.risk.qualifiers.base:Top",
        "zscore": "demur.risk.qualifiers.base:ZScore",
    },
}


def names(kind: str) -> list[str]:
    """The names registered for a kind, sorted: ours and those of installed packages."""
    return sorted({*OURS[kind], *(point.name for point in _entry_points(kind))})


def find(kind: str, name: str) -> Any:
    """The object registered under a name; ours win over another package's, and old names still work."""
    name = new_name(kind, name, tell=True)
    if name in OURS[kind]:
        module, _, attribute = OURS[kind][name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    for point in _entry_points(kind):
        if point.name == name:
            return point.load()
    also = "; nor is there a folder of that name" if kind in ("ranker", "reader") else ""
    raise UnknownName(kind, name, names(kind), also)


def build(kind: str, spec: str, more: Mapping[str, Setting] | None = None) -> Any:
    """What a spec such as ``bm25(k1=0.9)`` names, built with its settings and perhaps more of them."""
    wanted = parse(spec)
    if wanted.at is not None:
        raise UsageError(f"a {kind} has no @; write {wanted.name}(key=value) in place of {spec!r}")
    found = find(kind, wanted.name)
    settings = {**wanted.settings, **(more or {})}
    allowed = inspect.signature(found).parameters
    for key, value in settings.items():
        if key not in allowed:
            known = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise UsageError(f"{kind} {wanted.name!r} has no setting {key!r}; {known}")
        default, hint = allowed[key].default, allowed[key].annotation
        if must := wrong(value, hint if isinstance(hint, str) else inspect.formatannotation(hint)):
            fix = f'write {key}="{value}"' if must == "a text" else f"write it as in {key}={spell(default)}"
            raise UsageError(f"{key}={value} of {kind} {wanted.name!r} must be {must}; {fix}")
    return found(**settings)


def _entry_points(kind: str) -> Iterable[EntryPoint]:
    return _installed(f"demur.{kind}", tuple(sys.path))


@lru_cache(maxsize=64)
def _installed(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group; kept, as finding them reads a file of every installed package."""
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    return tuple(entry_points(group=group))
