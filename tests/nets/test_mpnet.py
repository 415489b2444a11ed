"""MPNet, whose positions are relative, is trained, resumed, saved, opened and exported as others are.

Its marks are RoBERTa's, its padding has the number 1, and its attention is its own.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur.data import formats
from demur.embedders import embedder
from demur.errors import UsageError
from demur.export.export import export
from demur.rankers.opening import save
from demur.rankers.vectors.bi_encoder import BiEncoder as BiEncoderRanker
from demur.reading.opening import reader as opened
from demur.training import Trainer, trainer
from demur.training.loop.fitting import Schedule
from demur.training.readers import examples
from demur.types import Candidate, Pool
from laws import toys

ANSWERS = ["cape", "the ship sailed round the cape", "may 3", "", "nothing but the cape in may"]
POOLS = [
    Pool.of(
        f"quest{n % 3}?",
        ["the ship", f"sailed {n}", "cape", "nothing", f"may {n} {'round ' * (n % 5)}"],
        [0, 0, 1, 0, 0],
        id=f"{n}",
    )
    for n in range(12)
]
SMALL: dict[str, Any] = {"epochs": 2, "tokens": 200, "learning_rate": 0.01, "max_length": 32}
RANKS = ("cross-encoder", "bi-encoder")


def asked(number: int) -> Pool:
    """What sailed is asked; a third of the passages does not say it."""
    draws = np.random.default_rng(number)
    ship, cape = draws.permutation(["ship", "cafe", "abc", "cape"])[:2].tolist()
    there = number % 3 > 0
    passage = f"the {ship} {'sailed' if there else 'round'} may the {cape}"
    extra = {"answers": [{"text": ship, "answer_start": 4}] if there else [], "is_impossible": not there}
    return Pool(str(number), "quest sailed?", (Candidate(f"t-{number}", passage, int(there)),), extra)


ASKED = [asked(number) for number in range(24)]


def small(name: str, **settings: Any) -> Trainer:
    fixed = {"base": toys.mpnet(), "freeze_words": False, "precision": "fp32"}
    return trainer(name, **{**fixed, **SMALL, **settings})


def scores(ranker: Any) -> Any:
    return np.concatenate(ranker.score_pools(POOLS))


@pytest.mark.parametrize("name", RANKS)
def test_it_learns_what_is_right_and_is_saved(name: str, tmp_path: Path) -> None:
    taught = small(name, epochs=30).train(POOLS)
    assert demur.evaluate(taught, POOLS, ["P@1"]).measures["P@1"].mean > 0.9
    save(taught, tmp_path / "model")
    assert np.abs(scores(demur.open(tmp_path / "model")) - scores(taught)).max() < 1e-5
    alone = [taught.score(pool.question, [answer])[0] for pool in POOLS for answer in pool.answers]
    assert np.abs(scores(taught) - alone).max() < 1e-4, "padding has no say"


def test_as_an_encoder_it_reads_texts_of_any_length() -> None:
    encoder = embedder(f'encoder(model="{toys.mpnet()}")')
    together = encoder.embed([*ANSWERS, "ship " * 90])
    assert together.shape == (6, 16) and not together[3].any() and together[5].any()
    for text, vector in zip(ANSWERS, together, strict=False):
        assert np.abs(encoder.embed([text])[0] - vector).max() < 1e-5


def test_it_learns_to_quote_and_when_not_to(tmp_path: Path) -> None:
    taught: Any = small("span-reader", tokens=120, epochs=40).train([asked(number) for number in range(96)])
    assert examples.measured(taught, [asked(number) for number in range(100, 130)], "EM") > 0.9
    save(taught, tmp_path / "reader")
    again = opened(str(tmp_path / "reader"))
    passage = "the café sailed may the ship " * 4  # several windows
    for text in (ASKED[1].answers[0], ASKED[3].answers[0], passage):
        ours, kept = (reader.read("quest sailed?", text) for reader in (taught, again))
        assert (ours and ours.text) == (kept and kept.text)
    found = taught.read(ASKED[1].question, ASKED[1].answers[0])
    assert found is not None and found.text == ASKED[1].extra["answers"][0]["text"]
    assert taught.read(ASKED[3].question, ASKED[3].answers[0]) is None


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", [*RANKS, "span-reader"])
def test_after_a_kill_it_ends_with_the_same_bits(
    name: str, quick: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools = ASKED if name == "span-reader" else POOLS
    by = small(name, quick=quick, tokens=100, epochs=3)
    whole, rate, taken = by.train(pools), Schedule.rate, 0

    def killing(self: Schedule, step: int, steps: int) -> float:
        nonlocal taken
        taken += 1
        if taken == 5:
            raise KeyboardInterrupt
        return rate(self, step, steps)

    with monkeypatch.context() as patched:
        patched.setattr(Schedule, "rate", killing)
        for part in ("cross_encoders.cross_encoder", "encoders.bi_encoder", "readers.base"):
            often = lambda *a, **k: Schedule(*a, **{**k, "minutes": 0.0})  # noqa: E731
            patched.setattr(f"demur.training.{part}.Schedule", often)
        with pytest.raises(KeyboardInterrupt):
            by.train(pools, checkpoints=tmp_path)
    assert [file.suffix for file in tmp_path.iterdir()] == [".safetensors"]
    resumed = by.train(pools, checkpoints=tmp_path)
    assert resumed.fingerprint == whole.fingerprint
    assert (
        resumed.fingerprint != small(name, quick=quick, tokens=100, epochs=3, seed=1).train(pools).fingerprint
    )


@cache
def learnt() -> Any:
    return small("cross-encoder", epochs=40).train(POOLS)


@pytest.mark.parametrize(("precision", "off"), [("fp32", 1e-5), ("int8", 0.1)])
def test_what_it_has_learnt_is_exported(precision: str, off: float, tmp_path: Path) -> None:
    """In bytes no score is off by more than a tenth of how scores spread: 2 % were seen."""
    formats.write_pools(tmp_path / "pools.jsonl", POOLS)
    made = export(learnt(), tmp_path / "out", precision, str(tmp_path / "pools.jsonl"))
    ours, theirs = scores(made.ranker), scores(learnt())
    assert theirs.std() > 0.5, "there is something to tell apart"
    assert np.abs(ours - theirs).max() < off * theirs.std()
    assert made.graph == "torch" and made.agreement.spearman > 0.9
    assert demur.evaluate(made.ranker, POOLS, ["P@1"]).measures["P@1"].mean > 0.9
    texts = ["cape", "ship " * 60, "may"]
    alone = [made.ranker.score("quest1?", [text])[0] for text in texts]
    assert np.abs(made.ranker.score("quest1?", texts) - alone).max() <= made.ranker.tolerance


def test_as_a_sentence_encoder_it_stays_with_torch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="only a BERT can be exported as an encoder, not a MPNetModel"):
        export(BiEncoderRanker(model=toys.mpnet()), tmp_path / "out")
    assert not (tmp_path / "out").exists()
