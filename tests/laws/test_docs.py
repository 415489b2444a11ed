"""`make check` looks at what the picture of the terminal says, not at digits that one processor gives."""

from __future__ import annotations

import re
import tomllib

import pytest
from tools import house, leads, make_docs


def test_the_picture_is_checked_by_its_words() -> None:
    picture = (make_docs.DOCS / "ask.svg").read_text("utf-8")
    said = make_docs.words(picture)
    assert "Tellthedesk" in said and "Noanswer:itsconfidence#isbelow#" in said
    sure, questions = (re.findall(pattern, picture)[-1] for pattern in (r"0\.\d\d", r"\d,\d{3}"))
    assert make_docs.words(picture.replace(sure, "0.6").replace("textLength", "x")) == said
    for old, new in (
        ("telephone", "website"),
        ("membership.md:36", "membership.md:37"),
        (questions, "9,999"),
    ):
        assert old in picture and make_docs.words(picture.replace(old, new)) != said


def test_the_picture_of_the_house_has_every_room() -> None:
    drawn = house.picture()
    rooms = {
        path.stem
        for path in house.SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    words = {word.strip(",") for word in drawn.split()}
    assert {room for room in rooms if not room.startswith("__")} <= words
    assert drawn in (make_docs.ROOT / "CONTRIBUTING.md").read_text("utf-8"), "run make docs"


def test_contributing_says_where_each_verb_is() -> None:
    assert house.table_of_verbs() in (make_docs.ROOT / "CONTRIBUTING.md").read_text("utf-8"), "run make docs"
    found = house.verbs()
    assert found["ask"].name == "ask.py" and found["kb add"] == found["kb"]


def test_a_block_goes_between_its_marks() -> None:
    page = "a\n<!-- x -->\n<!-- /x -->\nb\n"
    once = make_docs.between(page, "x", "new")
    assert once == "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n" == make_docs.between(once, "x", "new")
    with pytest.raises(ValueError, match="lost its mark <!-- y -->"):
        make_docs.between(page, "y", "new")


def test_the_package_index_gets_the_readme_without_its_pictures() -> None:
    readme = (make_docs.ROOT / "README.md").read_text("utf-8")
    told = tomllib.loads((make_docs.ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["metadata"]
    (change,) = told["hooks"]["fancy-pypi-readme"]["substitutions"]
    assert "](docs/serve.png)" in readme
    assert "serve.png" not in re.sub(change["pattern"], change["replacement"], readme)
    assert f'$ demur ask "{make_docs.QUESTIONS[0]}"' in readme


def test_a_paper_with_a_template_begins_with_it_and_with_how_far_its_rankings_hold() -> None:
    page = (make_docs.DOCS / "results" / "scan.md").read_text("utf-8")
    first, second = re.findall(r"^## (.*)$", page, re.M)[:2]
    assert first == "What holds of the published rankings" and second == "cases"
    for name in ("table2", "table3", "table4", "table5", "table6"):
        assert page.index(f"### {name}, published and ours\n") < page.index(f"\n## {name}\n")
    assert "Kendall's τ" in page and leads.lead("scarce") == []
