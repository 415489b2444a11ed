"""Errors of LanceDB and of an object store as one clear line, in which no key can be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from demur.errors import DemurError, LostBase, ReadOnlyBase, UnusableBase, UsageError

_CODE = re.compile(r"<Code>(\w{1,60})</Code>|status: (\d{3})|status code: (\d{3})")
_NO_ANSWER = "Connect", "HTTP error", "error sending request", "dns error", "timed out", "TimedOut"
_GONE = "Not found", "was not found", "NoSuchKey"


class NoTable(Exception):
    """There is no such table."""


@contextmanager
def told(place: object) -> Iterator[None]:
    """Errors of LanceDB as one clear line."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:
        if isinstance(error, DemurError):
            raise
        raise line(str(place), str(error)) from None


def line(place: str, said: str) -> Exception:
    """What to raise for what LanceDB said."""
    code = next((next(filter(None, found.groups())) for found in _CODE.finditer(said)), "")
    if "NoSuchBucket" in said:
        fix = "check its name and AWS_ENDPOINT_URL, or make it"
        return UnusableBase("cannot be reached: there is no such bucket", path=place, fix=fix)
    if "resolve region" in said:
        fix = "check its name and the network, or set AWS_REGION or AWS_ENDPOINT_URL"
        return UnusableBase("cannot be reached: nobody tells the bucket's region", path=place, fix=fix)
    if "AWS credentials" in said or "CredentialsNotLoaded" in said:
        fix = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role of the machine"
        return UnusableBase("cannot be reached: no keys for it were found", path=place, fix=fix)
    if code in ("403", "401", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"):
        written = "PUT" in said or "POST" in said or "DELETE" in said
        may = "may not be written" if written else "may not be read"
        fix = "let the owner of the bucket grant more, or check the keys"
        kind = ReadOnlyBase if written else UnusableBase
        return kind(f"{may} with these keys ({code})", path=place, fix=fix)
    if any(words in said for words in _GONE):
        return gone(place)
    if any(words in said for words in _NO_ANSWER):
        fix = "check AWS_ENDPOINT_URL and the network; nothing of this change was kept"
        return UnusableBase("cannot be reached: no server answers", path=place, fix=fix)
    if "conflict" in said.lower():
        return busy(place)
    why = code or " ".join(said.partition(", /")[0].split())[:120]
    return UnusableBase(f"cannot be read or written ({why})", path=place, fix="see to the bucket")


def gone(place: str) -> LostBase:
    """The error that a base is not there any more."""
    fix = "open it again; if its tables are gone, make it again with demur kb add"
    return LostBase("is gone or has changed too much since it was opened", path=place, fix=fix)


def busy(place: object) -> UsageError:
    """The error that somebody else is at it."""
    return UsageError(f"{place}: another process writes to it; try again when it is done")
