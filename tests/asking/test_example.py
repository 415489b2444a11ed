from __future__ import annotations

from demur.asking import Session
from demur.asking.example import LOADER, passages, pools
from demur.sentences import sentences
from demur.text import content, tokenize
from demur.types import Abstention


def test_the_handbook_is_about_sixty_short_passages() -> None:
    found = passages()
    assert 55 <= len(found) <= 70
    assert all(15 <= len(passage.text.split()) <= 80 for passage in found)
    assert all(passage.heading.count(" > ") == 1 for passage in found)
    assert len({passage.id for passage in found}) == len({passage.text for passage in found}) == len(found)


def test_forty_questions_ten_of_them_without_answer() -> None:
    found = list(pools())
    assert len({pool.id for pool in found}) == len({pool.question for pool in found}) == len(found) == 40
    assert sum(1 for pool in found if not pool.positives) == 10
    assert list(LOADER.splits["questions"].read()) == found


def test_each_quotation_stands_in_one_passage_within_one_sentence() -> None:
    texts = [passage.text for passage in passages()]
    for pool in pools():
        for quote in pool.extra["quotes"]:
            assert sum(quote in text for text in texts) == 1, quote
            assert any(quote in one.text for text in texts for one in sentences(text)), quote


def test_questions_do_not_copy_their_answers() -> None:
    for pool in pools():
        asked = set(content(tokenize(pool.question)))
        for quote in pool.extra["quotes"]:
            assert not asked <= set(tokenize(quote)), pool.question


def test_a_question_whose_words_occur_nowhere_is_not_answered() -> None:
    session = Session.open(passages(), "bm25")
    silent = [pool for pool in pools() if isinstance(session.ask(pool.question), Abstention)]
    assert "What is the wifi password?" in [pool.question for pool in silent]
