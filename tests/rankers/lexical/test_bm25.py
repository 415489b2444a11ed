from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demur
from demur.errors import DemurError, UsageError
from demur.rankers.lexical.bm25 import BM25
from demur.rankers.lexical.corpus import Statistics
from demur.rankers.lexical.index import Index
from demur.text import content, stemmer, tokenize
from demur.tokens import hash_words
from demur.types import Pool

WORD = st.sampled_from(["ape", "bee", "cat", "dog", "eel", "fox", "the", "of", "Ünï", "東京"])
WORDS = st.lists(WORD, max_size=12).map(" ".join)
POOLS = st.builds(Pool.of, WORDS, st.lists(WORDS, max_size=8))


def plain_bm25(
    question: str, answers: list[str], corpus: list[str], k1: float = 1.5, b: float = 0.75
) -> list[float]:
    """The formula, word by word: the reference that numpy must equal."""
    texts = [tokenize(text) for text in corpus]
    mean = sum(map(len, texts)) / max(len(texts), 1) or 1
    scores = []
    for words in map(tokenize, answers):
        score = 0.0
        for term in tokenize(question):
            n = sum(term in text for text in texts)
            tf = words.count(term)
            score += (
                math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
                * tf
                / (tf + k1 * (1 - b + b * len(words) / mean))
            )
        scores.append(score)
    return scores


@given(st.lists(POOLS, max_size=5))
@settings(max_examples=80)
def test_pool_statistics_equal_the_formula(pools: list[Pool]) -> None:
    scores = BM25().score_pools(pools)
    for pool, found in zip(pools, scores, strict=True):
        assert np.allclose(found, plain_bm25(pool.question, pool.answers, pool.answers), atol=1e-12)


@given(st.lists(POOLS, min_size=1, max_size=4))
@settings(max_examples=60)
def test_dataset_statistics_equal_the_formula(pools: list[Pool]) -> None:
    corpus = [answer for pool in pools for answer in pool.answers]
    ranker = BM25(stats="dataset", k1=0.9, b=0.4).prepare(iter(pools))
    for pool, found in zip(pools, ranker.score_pools(pools), strict=True):
        assert np.allclose(found, plain_bm25(pool.question, pool.answers, corpus, 0.9, 0.4), atol=1e-12)


def test_equals_bm25s_on_the_same_corpus() -> None:
    bm25s = pytest.importorskip("bm25s")
    rng = np.random.default_rng(0)
    vocabulary = [f"w{n}" for n in range(60)]
    corpus = [" ".join(rng.choice(vocabulary, rng.integers(1, 40))) for _ in range(300)]
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.6)
    theirs.index([tokenize(text) for text in corpus], show_progress=False)
    pool = Pool.of("w1 w2 w3 w3 w59", corpus)
    ours = BM25(k1=1.2, b=0.6).score_pools([pool])[0]
    assert np.abs(ours - theirs.get_scores(tokenize(pool.question))).max() < 1e-5
    found, scores = Index(corpus, BM25(k1=1.2, b=0.6)).search(pool.question, top=300)
    assert np.abs(scores - ours[found]).max() < 1e-12
    assert len(found) == (ours > 0).sum()


@given(st.lists(WORDS, min_size=1, max_size=12), WORDS, st.integers(1, 5))
@settings(max_examples=60)
def test_the_index_finds_the_best_texts(texts: list[str], question: str, top: int) -> None:
    index = Index(texts)
    found, scores = index.search(question, top)
    wanted = np.array(plain_bm25(" ".join(content(tokenize(question))), texts, texts))
    best = [place for place in np.argsort(-wanted, kind="stable") if wanted[place] > 0][:top]
    assert np.allclose(scores, wanted[best])
    assert np.allclose(wanted[found], wanted[best])
    for word in tokenize(question):
        assert index.df(word) == sum(word in tokenize(text) for text in texts)


def test_statistics_come_from_a_file(tmp_path: Path) -> None:
    corpus = ["ape bee", "ape cat", "ape"]
    file = tmp_path / "texts.tsv"
    file.write_text("".join(f"q\t{text}\t0\n" for text in corpus), "utf-8")
    ranker = demur.ranker("bm25", stats=str(file)).prepare([])
    pool = Pool.of("ape cat", ["cat", "ape"])
    assert np.allclose(ranker.score_pools([pool])[0], plain_bm25("ape cat", pool.answers, corpus))


def test_statistics_are_asked_for_once() -> None:
    ranker = BM25(stats="dataset")
    with pytest.raises(UsageError, match="has not seen its texts"):
        ranker.score("ape", ["bee"])
    one = ranker.prepare([Pool.of("q", ["ape"])])
    assert one.prepare([Pool.of("q", ["bee"])]) is one
    assert one.fingerprint != ranker.prepare([Pool.of("q", ["bee"])]).fingerprint != ranker.fingerprint


def test_statistics_do_not_depend_on_how_they_are_batched() -> None:
    texts = [f"common w{n} w{n % 7}" for n in range(9000)]
    found = Statistics.of(iter(texts))
    assert (found.texts, found.words) == (9000, 27_000)
    assert found.having.sum() == sum(len(set(tokenize(text))) for text in texts)


def test_idf_is_never_negative_and_two_documents_are_enough() -> None:
    assert (BM25().score("ape bee", ["ape bee", "ape cat"]) > 0).all()


def test_content_words_only() -> None:
    scores = demur.ranker("bm25(words=content)").score("what is the cat", ["what is the", "cat"])
    assert scores[0] == 0 < scores[1]
    with pytest.raises(UsageError, match="words=all or words=content"):
        demur.ranker("bm25(words=some)").score("cat", ["cat"])


def test_settings_are_checked() -> None:
    with pytest.raises(UsageError, match="k1 >= 0"):
        demur.ranker("bm25(k1=-1)")
    with pytest.raises(UsageError, match="no setting 'k2'; it takes"):
        demur.ranker("bm25(k2=1)")


def test_k1_of_nothing_counts_words_once() -> None:
    assert BM25(k1=0).score("ape", ["ape ape ape", "ape", "bee"]).tolist()[0:2] == pytest.approx(
        [math.log(1.6)] * 2
    )


@given(st.lists(POOLS, max_size=4))
@settings(max_examples=40)
def test_stems_equal_the_formula_over_stemmed_texts(pools: list[Pool]) -> None:
    """Texts that are stemmed beforehand score the same as texts that the ranker stems."""
    endings = [
        Pool.of(f"{p.question} hens", [f"{a} cats running" for a in p.answers], id=p.id) for p in pools
    ]
    cut = stemmer("english")

    def stemmed(text: str) -> str:
        return " ".join(cut(word) for word in tokenize(text))

    before = [Pool.of(stemmed(p.question), [stemmed(a) for a in p.answers], id=p.id) for p in endings]
    for ours, wanted in zip(
        BM25(stem="english").score_pools(endings), BM25().score_pools(before), strict=True
    ):
        assert np.allclose(ours, wanted, atol=1e-12)


def test_stems_meet_across_endings() -> None:
    pool = Pool.of("running cats", ["he ran", "a cat runs", "dogs"])
    assert BM25().score_pools([pool])[0].tolist() == [0, 0, 0]
    scores = demur.ranker("bm25(stem=english)").score_pools([pool])[0]
    assert scores[1] > 0 == scores[0] == scores[2]
    found, _ = Index(pool.answers, BM25(stem="english")).search(pool.question)
    assert found.tolist() == [1]
    with pytest.raises(DemurError, match="unknown language to stem 'englisch'; did you mean 'english'"):
        demur.ranker("bm25(stem=englisch)").score_pools([pool])


def test_batches_and_chunks_change_nothing() -> None:
    """More answers than are matched together, and more text than is read together."""
    rng = np.random.default_rng(0)
    words = [f"w{n}" for n in range(200)]
    pools = [
        Pool.of(
            " ".join(rng.choice(words, 4)), [" ".join(rng.choice(words, 30)) for _ in range(7)], id=str(n)
        )
        for n in range(900)
    ]
    assert sum(map(len, pools)) > 4096
    assert sum(len(text) for pool in pools[:500] for text in pool.answers) > 3 * (1 << 17)
    for ranker in (BM25(), BM25(stem="english"), BM25(stats="dataset").prepare(pools)):
        together = ranker.score_pools(pools)
        assert len(together) == len(pools)
        for pool, scores in list(zip(pools, together, strict=True))[::50]:
            assert np.allclose(ranker.score_pools([pool])[0], scores, rtol=0, atol=1e-12)
        assert max(scores.max() for scores in together) > 0


def test_equal_scores_keep_their_order_however_many() -> None:
    texts = [f"ape x{n}" for n in range(300)]
    ranking = BM25().rank("ape", texts)
    assert [candidate.text for candidate in ranking.candidates] == texts
    assert Index(texts).search("ape", top=300)[0].tolist() == list(range(300))
    assert Index(texts).search("ape", top=40)[0].tolist() == list(range(40))


def test_statistics_know_absent_words_and_tell_corpora_apart() -> None:
    one, other = Statistics.of(["ape bee", "cat"]), Statistics.of(["ape bee", "ape"])
    assert one.texts_having(hash_words(["ape dog"])[0]).tolist() == [1, 0]
    same_words = Statistics.of(["ape bee", "bee"])
    assert len({one.fingerprint, other.fingerprint, same_words.fingerprint}) == 3


@pytest.mark.parametrize("settings", [{"b": -0.01}, {"b": 1.01}, {"k1": -0.01}])
def test_the_bounds_of_settings(settings: dict[str, Any]) -> None:
    BM25(b=0)
    BM25(b=1)
    with pytest.raises(UsageError, match="b between 0 and 1"):
        BM25(**settings)
