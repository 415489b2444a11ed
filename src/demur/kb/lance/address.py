"""Where a base on an object store is: a bucket, and a folder in it."""

from __future__ import annotations

from dataclasses import dataclass

from demur.errors import UsageError

_SCHEME = "s3"
_FORM = "s3://BUCKET/FOLDER"


def is_bucket(text: str) -> bool:
    """Whether a text is an address on an object store, not a path."""
    scheme, slash, _ = text.partition(":/")
    return bool(slash) and scheme == _SCHEME


@dataclass(frozen=True)
class Bucket:
    """An address; keys are never part of it."""

    url: str

    @classmethod
    def of(cls, text: str) -> Bucket:
        """The address that a text means."""
        if "://" not in text:
            raise UsageError("an address begins with s3:// (a Path loses a slash); pass it as a string")
        bucket, _, folder = text.partition("://")[2].partition("/")
        if any(mark in text for mark in "@?#%") or ":" in bucket:
            why = "keys and servers are named by AWS's environment variables, such as AWS_ENDPOINT_URL"
            raise UsageError(f"this is no address of a bucket; write it as {_FORM}; {why}")
        if not bucket or not folder.strip("/"):
            raise UsageError(f"{text} names no folder in a bucket; write it as {_FORM}")
        return cls(f"{_SCHEME}://{bucket}/{folder.strip('/')}")

    @property
    def name(self) -> str:
        """What the base is called: the last part of its folder."""
        return self.url.rpartition("/")[2]

    def __str__(self) -> str:
        return self.url
