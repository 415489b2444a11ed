from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import demur
from demur.errors import UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as Ranker
from demur.training import trainer
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.types import Pool
from laws import toys

POOLS = [
    Pool.of(
        f"quest{n % 3}?",
        ["the ship", f"sailed {n}", "cape", "nothing", f"may {n}"],
        [0, 0, 1, 0, 0],
        id=f"{n}",
    )
    for n in range(12)
]


def quick(**settings: object) -> CrossEncoder:
    small = {"base": toys.bert(), "epochs": 2, "tokens": 200, "learning_rate": 0.01, "freeze_words": False}
    return CrossEncoder(**{**small, "max_length": 24, "precision": "fp32", **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", ["listwise", "pointwise"])
def test_it_learns_what_is_right(loss: str) -> None:
    untaught = demur.evaluate(Ranker(model=toys.classifier()), POOLS, ["P@1"]).measures["P@1"].mean
    taught = quick(loss=loss, epochs=30).train(POOLS)
    assert demur.evaluate(taught, POOLS, ["P@1"]).measures["P@1"].mean > 0.9 > untaught


def test_the_same_seed_gives_the_same_scores_whatever_was_drawn_before() -> None:
    first = quick().train(POOLS).score("quest1?", ["cape", "may 3"])
    torch.rand(7)
    assert quick().train(POOLS).score("quest1?", ["cape", "may 3"]).tolist() == first.tolist()
    assert quick(seed=1).train(POOLS).score("quest1?", ["cape", "may 3"]).tolist() != first.tolist()


def test_padding_changes_nothing_that_is_learnt(tmp_path: Path) -> None:
    still = Path(shutil.copytree(toys.bert(), tmp_path / "still"))
    config = json.loads((still / "config.json").read_text("utf-8"))
    none = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (still / "config.json").write_text(json.dumps(config | none), "utf-8")
    one, eight = (
        quick(base=str(still), pad=pad).train(POOLS).score("quest1?", ["cape", "may 3"]) for pad in (1, 8)
    )
    assert eight.tolist() == pytest.approx(one.tolist(), abs=1e-4)
    with pytest.raises(UsageError, match="pad=0 must be 1 to 64"):
        quick(pad=0)


def test_the_callers_random_numbers_are_left_alone() -> None:
    state = torch.get_rng_state()
    quick(epochs=1).train(POOLS[:3])
    assert torch.equal(torch.get_rng_state(), state)


def test_saved_and_opened_it_scores_the_same(tmp_path: Path) -> None:
    from demur.rankers.opening import save

    trained = quick().train(POOLS)
    save(trained, tmp_path / "model", {})
    opened = demur.open(tmp_path / "model")
    answers = ["cape", "may 3", ""]
    assert np.allclose(opened.score("quest1?", answers), trained.score("quest1?", answers), atol=1e-6)


def test_a_second_stage_starts_from_the_first() -> None:
    first = quick(epochs=12).train(POOLS)
    barely = quick(epochs=1, learning_rate=1e-9).train(POOLS, start=first)
    assert np.allclose(barely.score("quest1?", ["cape"]), first.score("quest1?", ["cape"]), atol=1e-4)
    with pytest.raises(UsageError, match="cannot start from bm25"):
        quick().train(POOLS, start=demur.ranker("bm25"))


def test_a_later_stage_may_read_more(caplog: pytest.LogCaptureFixture) -> None:
    first = quick(max_length=16).train(POOLS)
    assert first.max_length == 16
    second = quick(max_length=32).train(POOLS, start=first)
    assert second.max_length == 32
    assert second.fingerprint != first.fingerprint
    long = [Pool.of("which words?", ["many " * 40 + "words", "none"], [1, 0], id="long")]
    quick(max_length=16).train(long)
    assert "1 of 2 pairs are cut at 16 tokens, and learnt from as they are" in caplog.text


@pytest.mark.parametrize("setting", [{"learning_rate": 0.0}, {"learning_rate": -1.0}, {"checkpoint": -1.0}])
def test_numbers_that_make_no_sense(setting: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(setting))):
        quick(**setting)


def test_words_stay_as_they_are_if_frozen() -> None:
    def words(ranker: Ranker) -> torch.Tensor:
        weights: torch.Tensor = ranker.fresh()[0].get_input_embeddings().weight  # type: ignore[operator]
        return weights

    before = words(Ranker(model=toys.classifier()))
    assert torch.equal(words(quick(freeze_words=True).train(POOLS)), before)
    assert not torch.equal(words(quick().train(POOLS)), before)


def test_of_each_pool_all_right_and_some_wrong_answers_are_seen() -> None:
    sampled = [pool for each in POOLS if (pool := quick(negatives=2)._sampled(each))]
    assert {(len(pool), pool.positives) for pool in sampled} == {(3, 1)}
    assert len({tuple(pool.answers) for pool in sampled}) > 3, "drawn anew for each pool"
    assert quick()._sampled(Pool.of("q", ["a", "b"], [0, 0])) is None


def test_steps_keep_to_the_budget_and_miss_no_pool() -> None:
    longest, sizes = np.arange(5, 65), [4] * 60
    steps = list(quick(tokens=400)._steps(longest, sizes, 0))
    assert sorted(place for step in steps for place in step) == list(range(60))
    assert all(len(step) == 1 or 4 * len(step) * longest[step].max() <= 400 for step in steps)
    assert steps != list(quick(tokens=400)._steps(longest, sizes, 1)), "each epoch has its order"


def test_without_labels_there_is_one_line() -> None:
    with pytest.raises(UsageError, match="nothing can be learnt"):
        quick().train([Pool.of("q", ["a", "b"])])
    with pytest.raises(UsageError, match="use loss=listwise"):
        trainer("cross-encoder(loss=triplet)")


@pytest.mark.parametrize("name", ["cross-encoder", "joint", "scan"])
def test_what_hangs_on_a_base_is_not_taken_for_another_bases(name: str, tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(toys.bert(), base)
    by = trainer(name, base=str(base))
    before = by.depends
    assert trainer(name, base=str(base)).depends == before
    weights = base / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\1")
    assert by.depends != before


def labelled(count: int, folder: Path) -> str:
    """The toys' BERT as a classifier with so many labels."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from demur.embedders.encoders.loading import quietly

    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        made = AutoModelForSequenceClassification.from_pretrained(toys.bert(), num_labels=count)
        made.save_pretrained(folder)
        AutoTokenizer.from_pretrained(toys.bert()).save_pretrained(folder)
    return str(folder)


def test_of_two_labels_the_score_is_how_far_the_second_is_before_the_first(tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    place = labelled(2, tmp_path / "two")
    answers = ["the ship", "cape", "may sailed"]
    network = AutoModelForSequenceClassification.from_pretrained(place).eval()
    tokens = AutoTokenizer.from_pretrained(place)(["quest?"] * 3, answers, padding=True, return_tensors="pt")
    with torch.inference_mode():
        logits = network(**tokens).logits.numpy()
    ranker = demur.ranker(place)
    assert ranker.score("quest?", answers) == pytest.approx(logits[:, 1] - logits[:, 0], abs=1e-5)
    taught = quick(base=place, epochs=1).train(POOLS)
    taught.save(tmp_path / "taught")
    again = demur.open(tmp_path / "taught").score("quest?", answers)
    assert again == pytest.approx(taught.score("quest?", answers), abs=1e-6)


def test_of_more_labels_only_the_encoder_is_taken(tmp_path: Path) -> None:
    place = labelled(3, tmp_path / "three")
    assert quick(base=place, epochs=1).train(POOLS).score("quest?", ["cape", "may"]).shape == (2,)


def test_weights_that_could_run_code_are_refused(tmp_path: Path) -> None:
    place = Path(labelled(1, tmp_path / "one"))
    torch.save({}, place / "pytorch_model.bin")
    (place / "model.safetensors").unlink()
    with pytest.raises(demur.DemurError, match="safetensors"):
        demur.ranker(str(place)).score("quest?", ["cape"])
