"""A reader that is a snapshot of a longer training."""

from __future__ import annotations

from typing import Any

import pytest

from demur.errors import UsageError
from training.readers.test_readers import POOLS, quick


def test_a_snapshot_learns_as_the_longer_training_does() -> None:
    def losses(**settings: object) -> list[float]:
        said: list[dict[str, Any]] = []
        quick(**settings).train(POOLS, report=said.append)
        return [facts["loss"] for facts in said if "epoch" in facts]

    whole = losses(epochs=3)
    assert losses(epochs=3, until=2) == whole[:2]
    assert losses(epochs=2) != whole[:2], "a training of two epochs has other rates"


@pytest.mark.parametrize("until", [-1, 4])
def test_a_snapshot_must_be_within_the_training(until: int) -> None:
    with pytest.raises(UsageError, match=r"from 1 to epochs=3"):
        quick(epochs=3, until=until)
