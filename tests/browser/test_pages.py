"""The pages in a real browser: `make browser` brings playwright and axe-core; Chromium comes from the system.

Set `DEMUR_SHOTS` to a folder to keep screenshots of all pages there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from demur.serving.answering.service import Service
from kb_files import pdf
from serving.based import TOOLS, lines, made
from serving.made import live

CHROMIUM = os.environ.get("DEMUR_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(os.environ.get("DEMUR_AXE", ".venv/axe/package/axe.min.js"))
LACKING = "" if find_spec("playwright") else "playwright is not installed; make browser"
LACKING = LACKING or ("" if CHROMIUM else "there is no chromium; apt-get install chromium, or DEMUR_CHROMIUM")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(LACKING), reason=LACKING)]
WORDS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES, SCHEMES = (320, 768, 1280), ("light", "dark")
PAGES = ("/", "/documents", "/label", "/status")
KEPT = "For how long is a kayak lent?"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as kit:
        yield kit.chromium.launch(executable_path=CHROMIUM, args=WORDS)


@contextmanager
def shown(browser: Any, **settings: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page, and what went wrong in it: errors, refused parts, and what asks another place."""
    context = browser.new_context(**settings)
    context.set_default_timeout(120_000)  # a machine may be busy
    page, faults = context.new_page(), list[str]()
    page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", lambda one: faults.append(f"{one.url} {one.failure}"))
    try:
        yield page, faults
    finally:
        context.close()


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    path = made(tmp_path, {"tools.md": lines(TOOLS)})
    with live(Service.over(path, None, "bm25")) as (port, _):
        yield f"http://127.0.0.1:{port}"


def ask(page: Any, url: str, question: str) -> None:
    page.goto(url)
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer .card")


def test_a_question_is_answered_with_its_quote_marked_or_the_abstention_explained(
    browser: Any, url: str
) -> None:
    with shown(browser) as (page, faults):
        ask(page, url, f"For how long is a {TOOLS[4]} lent?")
        assert (
            page.locator("#answer blockquote mark").first.inner_text() == f"A {TOOLS[4]} is lent for 6 days."
        )
        assert "false" not in page.locator("#answer").inner_text()
        assert "tools.md:9" in page.locator("#answer .source").first.inner_text()
        ask(page, url, "xylophone?")
        assert "demur says nothing, because" in page.locator("#answer").inner_text()
        assert not faults


def test_a_file_is_dropped_asked_about_and_removed(browser: Any, url: str, tmp_path: Path) -> None:
    (tmp_path / "kayaks.md").write_text("# Kayaks\n\nA kayak is lent for four days.\n", "utf-8")
    with shown(browser) as (page, faults):
        page.goto(f"{url}/documents")
        if find_spec("pypdfium2"):
            (tmp_path / "canoes.pdf").write_bytes(pdf([[(12, "A canoe is lent for nine days.")]]))
            page.get_by_label("Drop files here").set_input_files(tmp_path / "canoes.pdf")
            page.get_by_role("cell", name="canoes.pdf", exact=True).wait_for()
            ask(page, url, "For how long is a canoe lent?")
            assert page.locator("#answer mark").first.inner_text() == "A canoe is lent for nine days."
            page.goto(f"{url}/documents")
        page.get_by_label("Drop files here").set_input_files(tmp_path / "kayaks.md")
        page.get_by_text("found by their words now").last.wait_for()
        page.get_by_role("cell", name="kayaks.md", exact=True).wait_for()
        ask(page, url, KEPT)
        assert page.locator("#answer mark").first.inner_text() == "A kayak is lent for four days."
        page.goto(f"{url}/documents")
        page.get_by_role("button", name="Remove kayaks.md").click()
        page.get_by_role("button", name="Really remove kayaks.md?").click()
        page.get_by_text("Removed kayaks.md").wait_for()
        page.get_by_role("button", name="Read files again").click()
        page.get_by_text("1 unchanged").wait_for()
        assert not faults


def test_thirty_questions_are_labelled_by_keyboard_and_become_a_promise(browser: Any, url: str) -> None:
    with shown(browser) as (page, faults):
        page.goto(f"{url}/label")
        page.get_by_label("Questions that people really ask").fill(
            "\n".join(f"For how long is a {tool} lent?" for tool in TOOLS[:60])
        )
        page.get_by_role("button", name="Add questions").click()
        page.get_by_text("60 of 60 are new").wait_for()
        page.locator("#passages blockquote").first.wait_for()
        page.locator("#question").focus()
        for number in range(1, 31):
            tool = page.locator("#question").inner_text().split()[5]
            texts = page.locator("#passages blockquote").all_inner_texts()
            page.keyboard.press(str(1 + next(n for n, text in enumerate(texts) if tool in text.split())))
            page.get_by_text(f"{number} questions are labelled").wait_for()
            assert page.evaluate("document.activeElement.id") == "question"
        page.keyboard.press("u")
        page.get_by_text("29 questions are labelled").wait_for()
        page.keyboard.press("1")
        page.get_by_text("30 questions are labelled").wait_for()
        page.get_by_label("Promise at most").select_option("0.3")
        page.get_by_role("button", name="Calibrate").click()
        page.get_by_text("In force now.").wait_for()
        page.goto(f"{url}/status")
        page.get_by_text("wrong at most 30 % of the time").wait_for()
        page.wait_for_selector("#counts dt")
        ask(page, url, f"For how long is a {TOOLS[100]} lent?")
        assert "certified on generation 1" in page.locator("#promise").inner_text()
        assert not faults


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", SIZES)
def test_every_page_fits_and_axe_finds_nothing(browser: Any, url: str, width: int, scheme: str) -> None:
    if not AXE.is_file():
        pytest.skip(f"axe-core is not at {AXE}; make browser, or DEMUR_AXE")
    how = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme, "bypass_csp": True}
    with shown(browser, **how) as (page, _):
        some = {"questions": [f"For how long is a {tool} lent?" for tool in TOOLS[:30]]}
        assert page.request.post(f"{url}/v1/questions", data=some).ok
        for path in (f"/#For how long is a {TOOLS[4]} lent?", *PAGES[1:]):
            page.goto("about:blank")
            page.goto(url + path)
            page.wait_for_load_state("networkidle") if path != "/documents" else page.wait_for_selector("td")
            if path == "/label":
                page.wait_for_selector("#passages li")
            if path.startswith("/#"):
                page.wait_for_selector("#answer .card")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            page.evaluate(AXE.read_text("utf-8"))
            found = page.evaluate("axe.run()")["violations"]
            assert not [(each["id"], each["nodes"][0]["html"]) for each in found], path
            if os.environ.get("DEMUR_SHOTS"):
                name = path.strip("/").partition("#")[0] or "ask"
                page.screenshot(
                    path=Path(os.environ["DEMUR_SHOTS"]) / f"{name}-{width}-{scheme}.png", full_page=True
                )
