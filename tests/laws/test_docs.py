"""`make check` looks at what the picture of the terminal says, not at digits that one processor gives."""

from __future__ import annotations

from tools import make_docs


def test_the_picture_is_checked_by_its_words() -> None:
    picture = (make_docs.DOCS / "ask.svg").read_text("utf-8")
    said = make_docs.words(picture)
    assert "Tellthedesk" in said and "Noanswer:itsconfidence#isbelow#" in said
    assert make_docs.words(picture.replace("0.59", "0.6").replace("textLength", "x")) == said
    for old, new in (("telephone", "website"), ("membership.md:36", "membership.md:37"), ("2,441", "2,440")):
        assert old in picture and make_docs.words(picture.replace(old, new)) != said
