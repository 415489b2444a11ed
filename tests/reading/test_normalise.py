from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demur.data import pools
from demur.errors import DataError
from demur.reading import published
from demur.reading.normalise import exact, normalise, overlap
from demur.types import Pool


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  U.S. Congress!", "us congress"),
        ("a man, a plan", "man plan"),
        ("Thea anthem", "thea anthem"),
        ("the-end", "theend"),
        ("Łódź — “the city”", "łódź — “ city”"),
        ("the", ""),
        ("", ""),
    ],
)
def test_normalises_as_squad_does(text: str, expected: str) -> None:
    assert normalise(text) == expected


def test_exact_match() -> None:
    assert exact("The Nile.", ["nile", "Amazon"]) and not exact("river Nile", ["nile"])
    assert exact("", []) and exact("the", []) and not exact("Nile", []) and not exact("", ["Nile"])
    assert exact("", ["the"]), "a gold that says nothing is no gold"


def test_overlap() -> None:
    assert overlap("the big red ship", "red ship") == pytest.approx(0.8)
    assert overlap("ship ship", "ship") == pytest.approx(2 / 3)
    assert overlap("", "the") == 1 and overlap("", "ship") == 0 and overlap("cat", "dog") == 0


def test_answers_of_a_system(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "answers.json"
    file.write_text('{"a": "x", "b": ""}')
    asked = [Pool("b", "?", ()), Pool("a", "?", ())]
    assert published.answers(str(file), asked) == ["", "x"]
    with pytest.raises(DataError, match="no answer to 'c'"):
        published.answers(str(file), [Pool("c", "?", ())])
    facts = {"answers": [{"text": "x", "answer_start": 0}]}
    always = [Pool(name, "?", (), facts) for name in "ac"]
    assert published.answers(str(file), always) == ["x", ""], "as the official script of SQuAD 1.1 has it"
    assert "no answer to 1 of 2 questions; they count as wrong" in caplog.text
    for others in (always[1:], [*always, Pool("b", "?", (), {"answers": []})]):
        with pytest.raises(DataError, match="no answer to 'c'"):
            published.answers(str(file), others)
    for broken, message in (("[1]", "not an object"), ('{"a": 1}', "not an object"), ("{", "not JSON")):
        file.write_text(broken)
        with pytest.raises(DataError, match=message):
            published.read_answers(str(file))
    for wrong in ([{"answer_start": 0}], ["Anna"], [{"text": 3}]):
        with pytest.raises(DataError, match="answers to question 'a' are not all objects with a text"):
            published.golds(Pool("a", "?", (), {"answers": wrong}))
    with pytest.raises(DataError, match="'a' has no answers"):
        published.golds(asked[1])
    for missing in (str(tmp_path / "nothing.json"), "nothing.json"):
        with pytest.raises(DataError, match=r"nothing.json: no such file; name a JSON file"):
            published.read_answers(missing)
    with pytest.raises(DataError, match="not here"):
        published.read_answers("squad/nothing.json")


@pytest.mark.data
@pytest.mark.parametrize(("system", "em"), [("v2.0-bert-single", 78.74)])
def test_scores_what_the_official_evaluator_scores(system: str, em: float) -> None:
    dev = pools("squad/2.0/dev")
    said = published.answers(f"squad/predictions/{system}.json.gz", dev)
    right = [exact(answer, published.golds(pool)) for answer, pool in zip(said, dev, strict=True)]
    assert round(100 * float(np.mean(right)), 2) == em


@pytest.mark.data
def test_scores_version_1_too() -> None:
    dev = pools("squad/1.1/dev")
    said = published.answers("squad/predictions/v1.1-bert-ensemble.json.gz", dev)
    golds = [published.golds(pool) for pool in dev]
    assert round(100 * float(np.mean([exact(*pair) for pair in zip(said, golds, strict=True)])), 2) == 86.21
    best = [max(overlap(answer, gold) for gold in each) for answer, each in zip(said, golds, strict=True)]
    assert round(100 * float(np.mean(best)), 2) == 92.20
