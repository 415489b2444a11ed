from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import demur
from demur.embedders.base import Embedder, Tokens, Vectors
from demur.errors import DataError, UsageError
from demur.rankers.alignment import word_grids
from demur.rankers.alignment.alignment import CHOICES, Alignment
from demur.rankers.lexical.bm25 import idf
from demur.text import STOPWORDS, token_spans
from demur.types import Pool
from laws import toys

QUESTION = "which ship sailed round the cape?"
ANSWERS = [
    "The ship sailed round the cape in May.",
    "ship ship ship, abc",
    "Nothing at all: café 🎉",
    "",
    "unknown words only",
    "abc",
    "ship ship ship, abc",
]
VECTORS = {
    line.split()[0]: np.array(line.split()[1:], float)
    for line in Path(toys.vectors()).read_text("utf-8").splitlines()
}


def made(**settings: demur.specs.Setting) -> Alignment:
    built = demur.ranker("alignment", vectors=toys.vectors(), **{"words": "all", **settings})
    assert isinstance(built, Alignment)
    return built


PAPER = {"similarity": "dot", "words": "content", "normalise": "none"}


def cosine(one: str, other: str) -> float:
    a, b = VECTORS[one], VECTORS[other]
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_the_paper_adds_raw_products_of_the_best_pairing_and_repeats_count() -> None:
    a, b = VECTORS["ship"], VECTORS["cape"]
    straight, crossed = a @ a + b @ b, 2 * (a @ b)
    best = max(straight, crossed)
    scores = made(**PAPER).score(
        "the ship and cape", ["The cape, a ship", "ship", "ship ship ship", "zzz", ""]
    )
    assert scores.tolist() == pytest.approx([best, max(a @ a, a @ b), a @ a + a @ b, 0, 0], abs=1e-5)
    twice = made(**PAPER).score("ship ship", ["ship ship", "ship"])
    assert twice.tolist() == pytest.approx([2 * (a @ a), a @ a], abs=1e-5)


def test_no_known_word_is_nothing_on_either_side() -> None:
    for question in ("", "?!", "zzz", "the"):
        assert made(words="content").score(question, ANSWERS).tolist() == [0.0] * len(ANSWERS)


def test_stop_words_count_if_all_words_do() -> None:
    assert made(words="content").score("the", ["the"])[0] == 0
    assert made(words="all").score("the", ["the"])[0] == pytest.approx(1)
    assert made(words="auto").kept == "content"
    assert Alignment().kept == "all"


@pytest.mark.parametrize("how", CHOICES["how"])
@pytest.mark.parametrize("normalise", CHOICES["normalise"])
def test_normalising_divides_by_words_and_the_rest_stays(how: str, normalise: str) -> None:
    plain = made(how=how, normalise="none").score(QUESTION, ANSWERS)
    divided = made(how=how, normalise=normalise).score(QUESTION, ANSWERS)
    question, answers = 5, [7, 4, 3, 1, 1, 1, 4]  # words with a vector; where there are none, 1 does no harm
    shorter = [min(question, words) for words in answers]
    by = {"none": [1] * 7, "question": [question] * 7, "shorter": shorter}[normalise]
    assert divided.tolist() == pytest.approx((plain / by).tolist())


def test_maxsim_lets_question_words_share_an_answer_word() -> None:
    scores = made(how="maxsim", normalise="none").score("ship ship", ["ship", "ship ship"])
    assert scores.tolist() == pytest.approx([2, 2])
    assert made(normalise="none").score("ship ship", ["ship", "ship ship"]).tolist() == pytest.approx([1, 2])


@pytest.mark.parametrize("settings", [{}, PAPER, {"how": "maxsim", "weights": "idf"}], ids=str)
def test_the_order_of_words_changes_nothing(settings: dict[str, str]) -> None:
    draw = random.Random(0)
    words = [draw.choice(list(VECTORS)) for _ in range(9)]
    ranker = made(**settings)
    score = ranker.score(" ".join(words[:4]), [" ".join(words)])[0]
    for _ in range(5):
        draw.shuffle(words)
        some = words[:4]
        first = ranker.score(" ".join(some), [" ".join(words)])[0]
        draw.shuffle(some)
        assert ranker.score(" ".join(some), [" ".join(reversed(words))])[0] == pytest.approx(first, abs=1e-9)
    assert np.isfinite(score)


def test_idf_weighs_question_words_by_how_few_answers_have_them() -> None:
    answers = ["ship may", "ship abc", "ship"]
    weights = dict(zip(("ship", "may"), idf(3.0, np.array([3.0, 1.0])).tolist(), strict=True))
    scores = made(weights="idf", normalise="none").score("ship may", answers)
    straight = weights["ship"] + weights["may"]
    crossed = cosine("ship", "may") * straight
    assert scores[0] == pytest.approx(max(straight, crossed), abs=1e-6)
    shares = made(weights="idf").score("ship may", answers)
    assert shares.tolist() == pytest.approx((scores / straight).tolist())


def test_idf_may_come_from_the_dataset_which_must_then_be_seen_first() -> None:
    ranker = made(weights="idf", stats="dataset", normalise="none")
    assert ranker.needs_preparing and not made(stats="dataset").needs_preparing
    with pytest.raises(UsageError, match=r"call prepare\(pools\)"):
        ranker.score("ship", ["ship"])
    pools = [Pool.of("ship", ["ship", "cape"]), Pool.of("may", ["cape", "abc"])]
    prepared = ranker.prepare(pools)
    assert prepared.score("ship", ["ship"])[0] == pytest.approx(float(idf(4.0, np.array([1.0]))[0]))
    assert prepared.prepare([]) is prepared
    assert prepared.fingerprint != ranker.prepare(pools[:1]).fingerprint


def test_idf_of_what_is_several_words_is_that_of_the_rarest() -> None:
    rarest = float(idf(2.0, np.array([0.0]))[0])
    table = {"_url_": VECTORS["ship"], "ship": VECTORS["ship"]}
    path = toys.folder() / "urls.txt"
    path.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in table.items()), "utf-8")
    ranker = demur.ranker("alignment", vectors=str(path), weights="idf", normalise="none")
    assert ranker.score("http://www.a.org/b", ["ship", "www"])[0] == pytest.approx(rarest, abs=1e-6)


@pytest.mark.parametrize("settings", [{}, PAPER, {"how": "maxsim", "weights": "idf", "normalise": "shorter"}])
def test_parts_of_pools_make_no_difference(settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    pools = [Pool.of(QUESTION, ANSWERS), Pool.of("", ANSWERS), Pool("b", "ship", ()), Pool.of("may", ["may"])]
    whole = made(**settings).score_pools(pools)
    monkeypatch.setattr(word_grids, "_CHARACTERS", 30)
    assert max(len(part.answers) for batch in word_grids.in_parts(pools) for part in batch) < 6
    parts = made(**settings).score_pools(pools)
    assert [each.tolist() for each in parts] == [each.tolist() for each in whole]


def test_large_pools_are_held_part_by_part() -> None:
    pools = [Pool.of(QUESTION, [f"{n} {'word ' * 5000}" for n in range(200)])]
    batches = list(word_grids.in_parts(pools))
    held = [sum(len(text) for part in batch for text in part.answers) for batch in batches]
    assert len(held) > 10
    assert max(held) < 2**18 + 26_000
    long = [Pool.of("word " * 5000, pools[0].answers)]
    assert all(len(part.answers) == 1 for batch in word_grids.in_parts(long) for part in batch)


@pytest.mark.parametrize("few", [1, 5, 12, 13, 30])
def test_equal_words_have_equal_products_to_the_last_bit_wherever_they_stand(few: int) -> None:
    rng = np.random.default_rng(few)
    vectors = rng.normal(size=(few + 60, 100)).astype(np.float32)
    nothing = np.empty((0, 2), np.int64)

    def cells(rows: Sequence[int]) -> Vectors:
        chosen = vectors[[*range(few), *rows]]
        tokens = Tokens(chosen, np.array([few, len(rows)]), ("",) * len(chosen), nothing)
        return word_grids.word_grids(tokens, np.array([1]), True).cells.reshape(few, -1).astype(np.float32)

    whole = cells(range(few, few + 60))
    for size in (1, 2, 3, 7, 31):
        rows = rng.permutation(60)[:size]
        assert (cells(list(few + rows)) == whole[:, rows]).all()


SETTINGS: list[dict[str, str]] = [
    {"how": how, "weights": weights, "normalise": normalise, "similarity": similarity}
    for how in CHOICES["how"]
    for weights in CHOICES["weights"]
    for normalise, similarity in zip(CHOICES["normalise"], ("cosine", "dot", "dot"), strict=True)
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings.values()))
def test_explanations_add_up_to_the_scores(settings: dict[str, str]) -> None:
    ranker = made(**settings)
    scores = ranker.score(QUESTION, ANSWERS)
    explained = ranker.explain(QUESTION, ANSWERS)
    assert [each.score for each in explained] == scores.tolist()
    for answer, explanation in zip(ANSWERS, explained, strict=True):
        assert sum(pair.contribution for pair in explanation.pairs) == pytest.approx(
            explanation.score, abs=1e-9
        )
        for pair in explanation.pairs:
            assert QUESTION[pair.question.start : pair.question.end] == pair.question.text
            assert answer[pair.answer.start : pair.answer.end] == pair.answer.text
    assert explained[1] == explained[-1]
    assert explained[3].pairs == explained[4].pairs == ()


def test_explanations_name_the_words_that_are_paired() -> None:
    pairs = made(words="content").explain("Which ship? May!", ["In May came a SHIP"])[0].pairs
    assert [(pair.question.text, pair.answer.text) for pair in pairs] == [("ship", "SHIP"), ("May", "May")]
    assert [pair.similarity for pair in pairs] == pytest.approx([1, 1])
    assert [pair.weight for pair in pairs] == [0.5, 0.5]
    assert made().explain("ship", []) == []


@dataclass(frozen=True)
class Toy(Embedder):
    """Vectors drawn from a word and its neighbour, as a network's know their context."""

    name: ClassVar[str] = "toy"
    width: ClassVar[int] = 6

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def tokens(self, texts: Sequence[str], words: str = "content") -> Tokens:
        found = [list(token_spans(text)) for text in texts]
        vectors, spans, named, counts = [], [], [], []
        for each in found:
            before = ""
            kept = 0
            for word, start, end in each:
                seed = sum(map(ord, f"{before} {word}"))
                before = word
                if words == "all" or word not in STOPWORDS:
                    vectors.append(np.random.default_rng(seed).normal(size=6))
                    spans.append((start, end))
                    named.append(word)
                    kept += 1
            counts.append(kept)
        rows = np.array(vectors, np.float32).reshape(-1, 6)
        return Tokens(rows, np.array(counts), tuple(named), np.array(spans, np.int64).reshape(-1, 2))


@pytest.fixture
def contextual() -> Callable[..., Alignment]:
    def build(**settings: str) -> Alignment:
        ranker = Alignment(**settings)
        ranker.__dict__["embedder"] = Toy()  # in place of the encoder, where it is kept once built
        return ranker

    return build


def test_words_in_context_are_paired_by_their_context(contextual: Callable[..., Alignment]) -> None:
    scores = contextual().score("deep sea port", ["the deep sea port", "port sea", "a glass of port"])
    assert scores[0] > scores[1] > 0
    assert scores[0] > 2 / 3
    for explanation in contextual(weights="idf").explain("deep sea port", ["the deep sea port"]):
        assert [pair.answer.text for pair in explanation.pairs][1:] == ["sea", "port"]


def test_without_vectors_the_encoder_is_taken() -> None:
    assert Alignment().embedder.spec.startswith("encoder(")
    assert "model=minilm" in Alignment().embedder.spec
    assert "model=/a/model" in Alignment(model="/a/model").embedder.spec
    assert Alignment().tolerance == 1e-5
    assert made().tolerance == 1e-9


@pytest.mark.parametrize("setting", CHOICES)
def test_wrong_settings_are_told_at_once(setting: str) -> None:
    with pytest.raises(UsageError, match=f"{setting}=loud of alignment must be one of"):
        demur.ranker("alignment", **{setting: "loud"})


def test_settings_that_do_not_go_together_are_told_too() -> None:
    with pytest.raises(UsageError, match="not both"):
        Alignment(vectors="a.txt", model="minilm")
    with pytest.raises(UsageError, match="words in context need cosine"):
        Alignment(similarity="dot")
    with pytest.raises(DataError, match=r"nowhere\.txt: no such file"):
        Alignment(vectors="nowhere.txt").score("ship", ["ship"])


def test_what_it_depends_on_is_in_the_fingerprint(tmp_path: Path) -> None:
    moved = tmp_path / "moved.txt"
    moved.write_bytes(Path(toys.vectors()).read_bytes())
    assert Alignment(vectors=str(moved), words="all").fingerprint == made().fingerprint
    assert replace(made(), how="maxsim").fingerprint != made().fingerprint
    moved.write_text(moved.read_text("utf-8").replace("ship", "boat"), "utf-8")
    assert Alignment(vectors=str(moved), words="all").fingerprint != made().fingerprint
