"""Pages for people: plain files under a strict policy, which name nothing outside and no missing part."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from demur.serving.paths.pages import PATHS
from serving.made import asked, service, with_keys

WEB = files("demur.serving") / "web"
PAGES = sorted(PATHS)
ASSETS = sorted(each.name for each in WEB.iterdir() if not each.name.endswith(".html"))


class Parts(HTMLParser):
    """The elements of a page, and which closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def ids(self) -> list[str]:
        return [str(facts["id"]) for _, facts in self.found if "id" in facts]


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    with asked(service()) as client:
        return {path: client.get(path).text for path in PAGES}


def test_pages_have_a_strict_policy_and_are_shown_without_a_key() -> None:
    with asked(service(), with_keys("a-key")) as client:
        for path in [*PAGES, *(f"/assets/{name}" for name in ASSETS)]:
            answer = client.get(path)
            assert answer.status_code == 200, path
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy
            assert "frame-ancestors 'none'" in policy and "form-action 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
        assert client.get("/v1/documents").status_code == 401


@pytest.mark.parametrize("name", ["nothing.js", "ask.html", "%2e%2e%2fpages.py", ""])
def test_no_other_file_is_given_out(name: str) -> None:
    with asked(service()) as client:
        assert client.get(f"/assets/{name}").status_code == 404


def test_posting_a_question_to_the_first_page_still_quotes() -> None:
    with asked(service()) as client:
        body = {"inputs": {"question": "How long?", "context": "For three weeks."}}
        assert client.post("/", json=body).json()["answer"] == "three weeks"


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_as_far_as_its_text_tells(shown: dict[str, str], path: str) -> None:
    parts = Parts(shown[path])
    assert ("html", {"lang": "en"}) in parts.found
    assert len(parts.ids()) == len(set(parts.ids()))
    labels = {facts.get("for") for tag, facts in parts.found if tag == "label"}
    for tag, facts in parts.found:
        if tag in ("input", "select", "textarea", "progress"):
            assert facts["id"] in labels, (tag, facts)
        assert not any(name.startswith("on") or name == "style" for name in facts), "the policy forbids it"
    current = [facts["href"] for tag, facts in parts.found if tag == "a" and "aria-current" in facts]
    assert current == [path]
    assert sum(tag == "h1" for tag, _ in parts.found) == 1
    assert any(tag == "main" for tag, _ in parts.found) and '<a class="skip" href="#main">' in shown[path]


@pytest.mark.parametrize("path", PAGES)
def test_scripts_find_the_parts_that_they_name(shown: dict[str, str], path: str) -> None:
    parts = Parts(shown[path])
    script = next(str(facts["src"]) for tag, facts in parts.found if tag == "script")
    text = (WEB / script.rpartition("/")[2]).read_text("utf-8")
    common = (WEB / "common.js").read_text("utf-8")
    named = {*re.findall(r'\bat\("([a-z]+)"\)', text), *re.findall(r'\bat\("([a-z]+)"\)', common)}
    assert len(named) > 2 and named <= set(parts.ids()), named - set(parts.ids())
    imported = set(re.findall(r"[a-zA-Z]+", text.partition("import {")[2].partition("}")[0]))
    exported = set(re.findall(r"export (?:async )?(?:function|const|class) (\w+)", common))
    assert imported <= exported, imported - exported


@pytest.mark.parametrize("name", [*ASSETS, "ask.html", "documents.html", "label.html", "status.html"])
def test_nothing_outside_is_named(name: str) -> None:
    text = (WEB / name).read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(?:https?:)?//[a-z0-9]", re.sub(r"(?m)^\s*//.*$|; //.*$", "", text)), name
    assert "eval(" not in text and "innerHTML" not in text and "document.write" not in text


def test_scripts_ask_only_paths_that_are_there() -> None:
    with asked(service()) as client:
        known = set(client.get("/openapi.json").json()["paths"])
    for name in ASSETS:
        if name.endswith(".js"):
            text = (WEB / name).read_text("utf-8")
            for path in re.findall(r'"[A-Z]+", [`"](/[a-z0-9/]+)', text):
                assert path in known or f"{path}{{id}}" in known, (name, path)
