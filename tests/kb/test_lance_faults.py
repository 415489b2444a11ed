"""What goes wrong with a base on an object store is one clear line with what to do, and nothing is lost."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from demur.errors import DemurError, MissingExtra, ReadOnlyBase, UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.lance import lake
from demur.kb.lance.address import Bucket, is_bucket
from demur.kb.lance.lake import Lake
from demur.kb.lance.lines import line
from demur.kb.passages import Passage
from kb.base_toys import found, held
from kb.places import ON_LANCE, SECRET, docs, kb, on_lance, refused, store

__all__ = ["docs", "kb"]  # fixtures


@pytest.fixture
def address() -> str:
    return on_lance()


@pytest.fixture
def denied(address: str) -> Iterator[Callable[..., None]]:
    """What forbids some actions on the bucket."""

    def deny(*actions: str) -> None:
        every = {"Effect": "Deny", "Principal": "*", "Action": list(actions)}
        said = {"Version": "2012-10-17", "Statement": [{**every, "Resource": ["arn:aws:s3:::books*"]}]}
        store().put_bucket_policy(Bucket="books", Policy=json.dumps(said))

    yield deny
    store().delete_bucket_policy(Bucket="books")


@pytest.mark.parametrize(
    "text",
    [
        f"s3://ada:{SECRET}@books/faq",
        f"s3://books/faq?key={SECRET}",
        "s3:/books/faq",
        "s3://books",
        "s3:///faq",
    ],
)
def test_what_is_no_address_is_one_line_without_a_key(text: str) -> None:
    with pytest.raises(UsageError) as error:
        KnowledgeBase(text)
    assert SECRET not in str(error.value) and "\n" not in str(error.value)


def test_an_address_is_told_from_a_path(tmp_path: Path) -> None:
    assert is_bucket("s3://books/faq") and not is_bucket(str(tmp_path)) and not is_bucket("s3.kb")
    assert (str(Bucket.of("s3://books/a/faq/")), Bucket.of("s3://books/a/faq").name) == (
        "s3://books/a/faq",
        "faq",
    )


def test_without_lancedb_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(MissingExtra, match=r"needs lancedb.*pip install 'demur\[lance\]'"):
        KnowledgeBase("s3://books/faq")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "LanceError(IO): x 403 <Code>InvalidAccessKeyId</Code> AKIA0HIDDEN",
            "may not be read with these keys",
        ),
        (
            "Error performing PUT http://h/k - Server returned status code: 403 Forbidden: ",
            "may not be written",
        ),
        ("Failed to get AWS credentials: ProviderError", "no keys for it were found; set AWS_ACCESS_KEY_ID"),
        (
            "lance error: LanceError(IO): Generic S3 error: Failed to resolve region for bucket 'faq'",
            "nobody tells the bucket's region; check its name and the network, or set AWS_REGION",
        ),
        ("Commit conflict for version 7: retry", "another process writes to it; try again"),
        (
            "lance error: something odd, /root/.cargo/x.rs:1",
            "cannot be read or written (lance error: something odd)",
        ),
    ],
)
def test_what_lancedb_says_becomes_one_line(said: str, told: str) -> None:
    shown = str(line("s3://books/faq", said))
    assert told in shown and "HIDDEN" not in shown and ".rs" not in shown


class TestInABucket:
    pytestmark = ON_LANCE

    def test_no_bucket(self, address: str) -> None:
        assert "there is no such bucket; check its name" in refused("s3://nowhere/faq")

    def test_no_server(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        assert "no server answers; check AWS_ENDPOINT_URL and the network" in refused(address)
        for named in (
            "127.0.0.1:5000",
            "localhost:5000",
            "nonsense",
            "http://",
            "",
            "ftp://x",
            "http://x:99999",
        ):
            monkeypatch.setenv("AWS_ENDPOINT_URL", named)
            assert "AWS_ENDPOINT_URL names no server; write http://HOST:PORT" in refused(address)

    def test_no_rights_to_read(self, kb: KnowledgeBase, address: str, denied: Callable[..., None]) -> None:
        denied("s3:GetObject", "s3:ListBucket")
        assert "may not be read with these keys (403)" in refused(address).replace("AccessDenied", "403")

    def test_no_rights_to_write(self, kb: KnowledgeBase, address: str, denied: Callable[..., None]) -> None:
        denied("s3:PutObject")
        reader = KnowledgeBase(address)
        assert found(reader, "drill") == found(kb, "drill")
        for change in (lambda: reader.put("one", [Passage("1", "A rake.")]), reader.check_writable):
            with pytest.raises(ReadOnlyBase, match="may not be written with these keys") as error:
                change()
            assert SECRET not in str(error.value)
        elsewhere = KnowledgeBase(on_lance())
        with pytest.raises(ReadOnlyBase, match="may not be written"):
            elsewhere.put("one", [Passage("1", "A rake.")])

    def test_a_newer_format_is_refused_by_name(
        self, kb: KnowledgeBase, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lake, "FORMAT", 99)
        kb.label("who lends?", None, 0)
        monkeypatch.undo()
        made = "was made by a newer demur (format 99; this one knows 1); upgrade demur"
        assert refused(address) == f"{address}: {made}"

    def test_a_server_that_goes_away_within_a_change(self, kb: KnowledgeBase, address: str) -> None:
        before = held(kb)
        with pytest.MonkeyPatch.context() as patched:

            def passages() -> Iterator[Passage]:
                yield Passage("1", "A rake is lent.")
                patched.setattr(Lake, "change", lambda *_: (_ for _ in ()).throw(RuntimeError("HTTP error")))

            with pytest.raises(DemurError, match=r"no server answers; .*nothing of this change was kept"):
                kb.put("tools", passages())
        assert held(KnowledgeBase(address)) == before
        assert kb.put("tools", [Passage("1", "A rake is lent.")]).status == "added"
