from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demur
from demur.data import formats
from demur.errors import DataError, UsageError
from demur.reading.base import Reader
from demur.reading.readers.bidaf import Bidaf as BidafReader
from demur.reading.readers.span_reader import SpanReader as TransformerReader
from demur.training import trainer
from demur.training.base import silent
from demur.training.readers import examples
from demur.training.readers.base import ALWAYS
from demur.training.readers.trainers import Bidaf, SpanReader
from demur.training.recipes.make_model import make
from demur.training.recipes.stages import Recipe, Stage, run
from demur.types import Candidate, Pool
from laws import toys


def pool(number: int, answerable: bool = True) -> Pool:
    """What sailed may be asked, and what was nothing; the other passages have no answer."""
    draws = np.random.default_rng(number)
    ship, cape = draws.permutation(["ship", "cafe", "abc", "cape"])[:2]
    passage = f"the {ship} sailed may the {cape}" if answerable else f"the {ship} round may the {cape}"
    listed = [{"text": str(ship), "answer_start": 4}] if answerable else []
    extra = {"title": "t", "paragraph": number, "answers": listed, "is_impossible": not answerable}
    paragraph = Candidate(f"t-{number}", passage, int(answerable))
    return Pool(f"{number}", "quest sailed?", (paragraph,), extra)


POOLS = [pool(n, n % 3 > 0) for n in range(24)]
QUICK = {"base": toys.bert(), "epochs": 12, "tokens": 120, "learning_rate": 0.01, "precision": "fp32"}


def quick(**settings: object) -> SpanReader:
    return SpanReader(**{**QUICK, "freeze_words": False, "max_length": 32, **settings})  # type: ignore[arg-type]


def weights(reader: Any) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = reader.fresh()[0].state_dict()
    return found


def test_it_learns_to_quote_and_when_not_to() -> None:
    untaught = examples.measured(TransformerReader(model=toys.answerer()), POOLS, "EM")
    new = [pool(n, n % 2 > 0) for n in range(100, 130)]
    taught = quick(epochs=40).train([pool(n, n % 3 > 0) for n in range(96)])
    assert examples.measured(taught, new, "EM") > 0.9 > 0.5 > untaught
    assert taught.threshold == 0
    asked = new[1]
    found = taught.read(asked.question, asked.answers[0])
    assert found is not None and found.text == asked.extra["answers"][0]["text"]
    assert taught.read(new[0].question, new[0].answers[0]) is None


def test_as_a_ranker_it_puts_passages_with_the_answer_first() -> None:
    taught = quick(epochs=30).train([pool(n, n % 3 > 0) for n in range(96)])
    both = taught.rank("quest sailed?", [pool(50, False).answers[0], pool(51).answers[0], ""])
    assert [candidate.id for candidate in both.candidates] == ["1", "0", "2"]


def test_taught_answers_alone_it_always_gives_one_until_taught_otherwise() -> None:
    first = quick(epochs=1).train([each for each in POOLS if each.positives])
    assert first.threshold == ALWAYS
    assert all(first.read(each.question, each.answers[0]) for each in POOLS)
    then = quick(epochs=1, max_length=24, stride=6).train(POOLS, start=first)
    assert (then.threshold, then.max_length) == (0, 24), "the last stage says how it reads"


def test_the_same_seed_gives_the_same_weights_whatever_was_drawn_before() -> None:
    first, state = weights(quick(epochs=1).train(POOLS)), torch.get_rng_state()
    torch.rand(7)
    torch.set_rng_state(state)
    again = weights(quick(epochs=1).train(POOLS))
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    assert all(torch.equal(first[name], again[name]) for name in first)
    other = weights(quick(epochs=1, seed=1).train(POOLS))
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_a_killed_run_ends_like_one_that_was_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from demur.training.loop import fitting as loop

    short = quick(epochs=3, early="F1")
    monkeypatch.setattr(
        "demur.training.readers.base.Schedule", lambda *a, **k: loop.Schedule(*a, **{**k, "minutes": 0.0})
    )
    whole = weights(short.train(POOLS, POOLS[:6], checkpoints=tmp_path / "a"))
    judged = 0

    def killing(*inputs: Any) -> float:
        nonlocal judged
        judged += 1
        if judged == 2:
            raise KeyboardInterrupt
        return examples.measured(*inputs)

    with monkeypatch.context() as patched:
        patched.setattr("demur.training.readers.base.measured", killing)
        with pytest.raises(KeyboardInterrupt):
            short.train(POOLS, POOLS[:6], checkpoints=tmp_path / "b")
    (kept,) = (tmp_path / "b").iterdir()
    assert kept.suffix == ".safetensors"
    resumed = weights(short.train(POOLS, POOLS[:6], checkpoints=tmp_path / "b"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_early_stopping_takes_the_best_epoch() -> None:
    said: list[dict[str, Any]] = []
    taught = quick(epochs=6, early="EM").train(POOLS, POOLS, report=said.append)
    epochs = [facts["dev"] for facts in said if "dev" in facts]
    assert len(epochs) == 6
    assert examples.measured(taught, POOLS, "EM") == max(epochs)


def test_the_dev_set_says_when_there_is_no_answer() -> None:
    plain = quick(epochs=2).train(POOLS, POOLS)
    for measure in ("EM", "F1"):
        tuned = quick(epochs=2, null=measure).train(POOLS, POOLS)
        assert all(
            torch.equal(a, b) for a, b in zip(weights(plain).values(), weights(tuned).values(), strict=True)
        )
        everyone = [dataclasses.replace(plain, threshold=at) for at in (-1e9, -3.0, -1.0, 0.0, 1.0, 3.0, 1e9)]
        held = [one.holding(*plain.fresh()) for one in everyone]
        best = max(examples.measured(one, POOLS, measure) for one in held)
        assert plain.threshold == 0 != tuned.threshold and examples.measured(tuned, POOLS, measure) >= best
    answered = [each for each in POOLS if each.positives]
    assert quick(epochs=1, null="F1").train(answered, answered).threshold == ALWAYS
    assert quick(epochs=1, null="F1").train(POOLS).threshold == 0, "without a dev set"


def test_where_silence_is_best_one_answer_stands_not_none() -> None:
    taught = quick(epochs=1).train(POOLS)
    without = [pool(n, False) for n in range(6)]
    threshold = examples.best_threshold(taught, without, "F1")
    odds = [taught.read_all([(each.question, each.answers[0])])[0].null_odds for each in without]
    assert threshold == pytest.approx(min(odds), abs=taught.tolerance), (
        "but for rounding: they are read together"
    )


def test_targets_are_positions_in_windows_or_null() -> None:
    passage = "ship " * 30 + "the cape " + "may " * 30
    at = passage.index("cape")
    long = Pool(
        "l", "abc?", (Candidate("0", passage, 1),), {"answers": [{"text": "cape", "answer_start": at}]}
    )
    reader = TransformerReader(model=toys.answerer(), max_length=24, stride=6)
    windows = reader.windows(*reader.fresh(), [(long.question, passage)])
    _, wanted = examples.examples_of(reader, *reader.fresh(), [long])
    holds = [any(place.tolist() == [at, at + 4] for place in window.places) for window in windows]
    assert len(windows) == len(wanted) and 1 < sum(holds) < len(windows)
    for window, holding, (start, end) in zip(windows, holds, wanted.tolist(), strict=True):
        assert (start, end) == ((0, 0) if not holding else (start, start))
        assert not holding or window.places[start].tolist() == [at, at + 4]


def test_an_answer_in_two_windows_halves_is_in_neither() -> None:
    (window,) = TransformerReader(model=toys.answerer()).windows(
        *TransformerReader(model=toys.answerer()).fresh(), [("", "the ship may")]
    )
    assert examples.target(window, (4, 12)) == (2, 3)
    cut = dataclasses.replace(window, places=window.places[:3])
    assert examples.target(cut, (4, 12)) == (0, 0)
    assert examples.target(window, None) == (0, 0)


def test_what_cannot_be_learnt_from_is_said() -> None:
    with pytest.raises(UsageError, match="no questions"):
        quick().train([])
    with pytest.raises(DataError, match="has no answers"):
        quick().train([Pool.of("q", ["a"], [1])])
    for start in (5, None, -3):
        wrong = {"answers": [{"text": "ship", "answer_start": start}]}
        with pytest.raises(DataError, match="is not where"):
            quick().train([Pool("q", "?", (Candidate("0", "the ship", 1),), wrong)])
    with pytest.raises(DataError, match="2 passages"):
        quick().train([Pool("q", "?", (Candidate("0", "a"), Candidate("1", "b")), {"answers": []})])
    with pytest.raises(UsageError, match="cannot start from bm25"):
        quick().train(POOLS, start=demur.ranker("bm25"))
    for settings in ("early=MAP", "null=MAP", "precision=int8", "epochs=0", "max_length=3", "device=tpu"):
        with pytest.raises(UsageError):
            trainer(f"span-reader({settings})")


def test_a_second_stage_starts_from_the_first() -> None:
    first = quick().train(POOLS)
    barely = quick(epochs=1, learning_rate=1e-9).train(POOLS, start=first)
    pairs = [(each.question, each.answers[0]) for each in POOLS]
    for one, other in zip(first.read_all(pairs), barely.read_all(pairs), strict=True):
        assert one.null_odds == pytest.approx(other.null_odds, abs=1e-3)


def test_it_can_begin_with_a_network_that_ranks() -> None:
    found = quick(base=toys.classifier(), epochs=1).train(POOLS)
    assert np.isfinite(found.score(POOLS[0].question, POOLS[0].answers)).all()


def test_another_answer_is_another_model() -> None:
    changed = dataclasses.replace(POOLS[1], extra={**POOLS[1].extra, "answers": []})
    assert quick().sees(changed) != quick().sees(POOLS[1])
    assert trainer("cross-encoder").sees(changed) == trainer("cross-encoder").sees(POOLS[1])


def test_a_recipe_makes_a_folder_that_reads(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "toy.json", POOLS)
    file = str(tmp_path / "toy.json")
    settings = "epochs=3, tokens=120, learning_rate=0.01, precision=fp32, freeze_words=false, max_length=32"
    recipe = Recipe(f'span-reader(base="{toys.bert()}")', [Stage(file, file, settings=settings)])
    made = make(recipe, tmp_path / "model")
    assert isinstance(made.ranker, Reader) and made.dev is not None
    assert set(made.dev.measures) == {"EM", "F1", "HasAns-EM", "HasAns-F1", "NoAns-EM"}
    card = (tmp_path / "model" / "README.md").read_text("utf-8")
    assert card.startswith("# A span-reader\n") and "demur.reader(" in card and "| EM |" in card
    again, _ = run(recipe, None, silent)
    kept = weights(demur.reader(tmp_path / "model"))
    assert all(torch.equal(tensor, kept[name]) for name, tensor in weights(again).items())
    facts = json.loads((tmp_path / "model" / "ranker.json").read_text("utf-8"))
    assert facts["spec"].startswith("span-reader(")


def bidaf(**settings: object) -> Bidaf:
    quickly = {"epochs": 30, "tokens": 200, "learning_rate": 0.01, "hidden": 8, "filters": 6, "wide": 8}
    return Bidaf(**{**quickly, **settings})  # type: ignore[arg-type]


def test_bidaf_learns_to_quote_and_when_not_to() -> None:
    new = [pool(n, n % 2 > 0) for n in range(100, 130)]
    taught = bidaf().train([pool(n, n % 3 > 0) for n in range(96)])
    assert examples.measured(taught, new, "EM") > 0.9
    assert float(weights(taught)["null"]) != 0, "it is trained"
    again = bidaf(epochs=1, learning_rate=1e-9).train(POOLS, start=taught)
    assert examples.measured(again, new, "EM") > 0.9
    with pytest.raises(UsageError, match="cannot start from"):
        bidaf().train(POOLS, start=TransformerReader(model=toys.answerer()))


def test_bidaf_keeps_vectors_that_it_was_given() -> None:
    given = bidaf(vectors=toys.vectors(), epochs=1, least=1).train(POOLS)
    network, known = given.fresh()
    rows = {word: np.array(numbers.split(), float) for word, _, numbers in _lines(toys.vectors())}
    fixed = network.get_submodule("fixed").weight.detach().numpy()[1:]  # type: ignore[operator]
    for word, vector in zip(known.words[-len(fixed) :], fixed, strict=True):
        assert np.allclose(vector, rows[word], atol=1e-6)
    assert "sailed" in known.words[-len(fixed) :] and "quest" in known.words[: -len(fixed)]
    assert bidaf(vectors=toys.vectors()).depends != bidaf().depends == ""
    for wrong in ({"dropout": 1.0}, {"hidden": 0}, {"max_length": 3}):
        with pytest.raises(UsageError):
            bidaf(**wrong)


def test_bidaf_resumes_as_if_it_had_not_been_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from demur.training.loop import fitting as loop

    monkeypatch.setattr(
        "demur.training.readers.base.Schedule", lambda *a, **k: loop.Schedule(*a, **{**k, "minutes": 0.0})
    )
    whole = weights(bidaf(epochs=3).train(POOLS))
    taken = 0
    forward = BidafReader.forward

    def killing(self: Any, *inputs: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken == 4:
            raise KeyboardInterrupt
        return forward(self, *inputs)

    with monkeypatch.context() as patched:
        patched.setattr(BidafReader, "forward", killing)
        with pytest.raises(KeyboardInterrupt):
            bidaf(epochs=3).train(POOLS, checkpoints=tmp_path)
    assert list(tmp_path.iterdir())
    resumed = weights(bidaf(epochs=3).train(POOLS, checkpoints=tmp_path))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def _lines(path: str) -> list[tuple[str, str, str]]:
    return [line.partition(" ") for line in Path(path).read_text("utf-8").splitlines()]
