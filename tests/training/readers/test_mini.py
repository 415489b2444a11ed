from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demur
from demur.data import formats
from demur.errors import UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.reading.readers.mini_torch import MiniTorch
from demur.training import trainer
from demur.training.readers import examples, mini_examples
from demur.training.readers.mini import Mini
from demur.training.recipes.make_model import make
from demur.training.recipes.stages import Recipe, Stage
from demur.types import Candidate, Pool
from laws import toys

SHIPS = ["ship", "cafe", "abc", "cape"]


def asked(number: int, answerable: bool = True) -> Pool:
    """What sailed may be asked, and what was nothing; the other passages have no answer."""
    ship, cape = np.random.default_rng(number).permutation(SHIPS)[:2]
    passage = f"the {ship} sailed may the {cape}" if answerable else f"the {ship} round may the {cape}"
    listed = [{"text": str(ship), "answer_start": 4}] if answerable else []
    extra = {"title": "t", "paragraph": number, "answers": listed, "is_impossible": not answerable}
    return Pool(f"s-{number}", "quest sailed?", (Candidate(f"t-{number}", passage, int(answerable)),), extra)


def ranked(number: int) -> Pool:
    """Right is what sailed."""
    draws = np.random.default_rng(1000 + number)
    right = f"the {draws.choice(SHIPS)} sailed"
    return Pool.of("quest sailed?", [right, "nothing round", "may the cape"], [1, 0, 0], id=f"r-{number}")


POOLS = [asked(n, n % 3 > 0) for n in range(24)] + [ranked(n) for n in range(8)]
QUICK: dict[str, Any] = {
    "base": toys.classifier(),
    "epochs": 12,
    "tokens": 120,
    "learning_rate": 0.003,
    "precision": "fp32",
    "freeze_words": False,
    "max_length": 32,
    "pair": 24,
}


@pytest.fixture(autouse=True)
def no_strangers(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Here all questions are one, so another's passage would answer it."""
    if "parts" not in request.node.name:
        monkeypatch.setattr(mini_examples, "_STRANGERS", 0.0)


def quick(**settings: Any) -> Mini:
    return Mini(**{**QUICK, **settings})


def weights(made: MiniTorch) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = made.fresh()[0].state_dict()
    return found


def test_it_learns_to_rank_and_to_quote_and_when_not_to() -> None:
    pools = [asked(n, n % 3 > 0) for n in range(96)] + [ranked(n) for n in range(32)]
    said: list[dict[str, Any]] = []
    taught = quick(epochs=90).train(pools, report=said.append)  # 60 are too few on some processors
    losses = [facts["loss"] for facts in said if "epoch" in facts]
    assert losses[-1] < 0.75 * losses[0]
    new = [asked(n, n % 2 > 0) for n in range(200, 230)]
    assert examples.measured(taught, new, "EM") > 0.75
    looks = taught.look("quest sailed?", ["the cape round may the ship", "the cafe sailed may the ship", ""])
    assert max(range(3), key=lambda n: looks[n].score) == 1
    assert looks[1].span is not None and looks[1].span.text == "cafe" and looks[0].span is None
    assert looks[1].confidence > max(looks[0].confidence, looks[2].confidence)
    alone = taught.score("quest sailed?", ["the cafe sailed may the ship"])
    assert alone[0] == pytest.approx(looks[1].score, abs=taught.tolerance)


def test_probes_see_the_answer_and_leave_the_rest_alone() -> None:
    taught = quick(epochs=45).train([asked(n, n % 3 > 0) for n in range(96)])
    ((view,),) = taught.glances([("quest sailed?", "the cafe sailed may the ship")])
    assert view.layers.shape == (1, 2, len(view.starts))
    assert int(view.layers[0, 0].argmax()) == int(view.starts.argmax()) == 2
    network, _ = taught.fresh()
    from demur.reading.readers.mini_torch import batch_of

    windows = taught.windows(*taught.fresh(), [("quest sailed?", "the cafe sailed")])
    network(batch_of(windows, "cpu", 512)[0])[2].sum().backward()
    moved = [name for name, value in network.named_parameters() if value.grad is not None]
    assert moved == ["probes"]


def test_a_killed_run_ends_like_one_that_was_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from demur.reading.readers.mini_torch import batch_of
    from demur.training.loop import fitting as loop

    monkeypatch.setattr(
        "demur.training.readers.mini.Schedule", lambda *a, **k: loop.Schedule(*a, **{**k, "minutes": 0.0})
    )
    whole = weights(quick(epochs=3).train(POOLS, checkpoints=tmp_path / "a"))
    taken = 0

    def killing(*inputs: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken == 15:
            raise KeyboardInterrupt
        return batch_of(*inputs)

    with monkeypatch.context() as patched:
        patched.setattr("demur.training.readers.mini.batch_of", killing)
        with pytest.raises(KeyboardInterrupt):
            quick(epochs=3).train(POOLS, checkpoints=tmp_path / "b")
    assert list((tmp_path / "b").iterdir())
    resumed = weights(quick(epochs=3).train(POOLS, checkpoints=tmp_path / "b"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_the_same_from_its_folder(tmp_path: Path) -> None:
    taught = quick(epochs=1).train(POOLS)
    taught.save(tmp_path / "mini")
    again = demur.reader(tmp_path / "mini")
    assert isinstance(again, MiniTorch) and again.max_length == 32
    passages = [pool.answers[0] for pool in POOLS]
    assert again.look("quest sailed?", passages) == taught.look("quest sailed?", passages)
    then = quick(epochs=1, learning_rate=1e-9).train(POOLS, start=again)
    assert np.allclose(then.score("?", passages), taught.score("?", passages), atol=1e-3)


def test_one_task_alone_teaches_nothing_of_the_other() -> None:
    before = MiniTorch(model=toys.classifier())
    with torch.random.fork_rng():
        torch.manual_seed(0)
        heads = before.fresh()[0].state_dict()
    rank, read = (weights(quick(epochs=1, tasks=tasks).train(POOLS)) for tasks in ("rank", "read"))
    assert torch.equal(rank["span.weight"], heads["span.weight"])
    assert torch.equal(read["scorer.classifier.weight"], heads["scorer.classifier.weight"])
    assert not torch.equal(read["span.weight"], heads["span.weight"])


def test_parts_hold_the_answer_or_say_that_there_is_none() -> None:
    text = "It rained. The ship sailed. A cape is near. The end came soon."
    listed = [{"text": "ship", "answer_start": text.index("ship")}]
    pools = [
        Pool(str(n), "what?", (Candidate("0", text, 1),), {"answers": listed, "title": "t"})
        for n in range(300)
    ]
    other = Pool("x", "who?", (Candidate("1", "Nobody. Or somebody?", 0),), {"answers": [], "title": "u"})
    parts = mini_examples.Parts([*pools, other], 0)
    found = list(parts.epoch(0))
    assert found == list(parts.epoch(0)) != list(parts.epoch(1))
    for part in found:
        if part.answer is not None:
            assert part.passage[slice(*part.answer)] == "ship"
        else:
            assert "ship" not in part.passage or part.question == "who?"
    shown = [part.passage for part in found if part.answer]
    assert {len(demur.sentences.sentences(each)) for each in shown} == {1, 2, 3, 4}
    assert 0.05 < np.mean([p.answer is None for p in found if "Nobody" not in p.passage]) < 0.25
    assert any(part.question == "what?" and "Nobody" in part.passage for part in found)


def test_it_goes_on_from_a_cross_encoder() -> None:
    first = CrossEncoder(model=toys.classifier())
    barely = quick(epochs=1, learning_rate=1e-9).train(POOLS, start=first)
    answers = ["the ship sailed", "may", ""]
    assert np.allclose(first.score("quest?", answers), barely.score("quest?", answers), atol=1e-3)


def test_what_cannot_be_learnt_from_is_said() -> None:
    with pytest.raises(UsageError, match="nothing can be learnt"):
        quick().train([Pool.of("q", ["a"], [1])])
    with pytest.raises(UsageError, match="nothing can be learnt"):
        quick(tasks="rank").train([asked(1)])
    with pytest.raises(UsageError, match="cannot start from bm25"):
        quick().train(POOLS, start=demur.ranker("bm25"))
    with pytest.raises(UsageError, match="only the trainer mini"):
        trainer("span-reader").train([asked(1)], start=MiniTorch(model=toys.classifier()))
    for settings in ("tasks=all", "precision=int8", "epochs=0", "max_length=3", "pair=3", "device=tpu"):
        with pytest.raises(UsageError):
            trainer(f"mini({settings})")


@pytest.mark.parametrize("kind", ["pools", "questions"])
def test_a_dev_set_of_either_kind_is_measured(kind: str, tmp_path: Path) -> None:
    dev = POOLS[:24] if kind == "questions" else POOLS[24:]
    formats.write_pools(tmp_path / "learn.jsonl", POOLS)
    formats.write_pools(tmp_path / "dev.jsonl", dev)
    settings = "epochs=1, tokens=120, precision=fp32, max_length=32, pair=24"
    stage = Stage(str(tmp_path / "learn.jsonl"), str(tmp_path / "dev.jsonl"), settings=settings)
    made = make(Recipe(f'mini(base="{toys.classifier()}")', [stage]), tmp_path / "model")
    assert made.dev is not None and ("EM" if kind == "questions" else "MAP") in made.dev.measures
    assert "mini-torch" in (tmp_path / "model" / "README.md").read_text("utf-8")
    assert isinstance(demur.open(tmp_path / "model"), MiniTorch)
