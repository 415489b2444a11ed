"""The rules of IRGAN: what its paper and its code resolve differently."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IrganRules:
    """What the paper and its code resolve differently.

    `signed` rewards may be below 0, others are clipped at the hinge. With a `baseline` only what is better
    than the other answers shown is rewarded. `sampling` and `likelihood` are the temperatures of what is
    drawn and of its log-probability; `second` that of other answers drawn for the discriminator, `seconds`
    of them. They are in `parts` of the net's own temperature, or as they stand.
    """

    signed: bool = True
    baseline: bool = True
    again: bool = True  # whether an answer may be drawn twice
    own: bool = True  # whether the question's own wrong answers come first in its pool
    with_right: bool = False  # whether the right answer is in the pool
    sampling: float = 1.0
    likelihood: float = 1.0
    second: float = 0.0
    seconds: int = 0
    parts: bool = True
    summed: bool = False  # a hinge for each answer shown, summed, in place of their mean
    clip: float = 0.0  # of each number in a gradient; 0 clips the length of all at 1
    pool: int = 32
    margin: float = 0.0  # 0 is the net's own
    discriminator_rate: float = 3e-4
    generator_rate: float = 1e-4
    edition: int = 1  # raised where these rules change: games of other presets keep their models

    def heat(self, temperature: float, own: float) -> float:
        """The temperature that scores are divided by, for a net whose own is `own`."""
        return temperature * own if self.parts else temperature


PRESETS = {
    "fixed": IrganRules(),
    "paper": IrganRules(signed=False, baseline=False, own=False, pool=100),
    "code": IrganRules(
        baseline=False,
        again=False,
        own=False,
        with_right=True,
        sampling=1 / 20,  # exp(20 s), whatever the net's scores are like
        likelihood=1.0,
        second=1 / 30,  # exp(30 s)
        seconds=3,
        parts=False,
        summed=True,
        clip=1.0,
        pool=100,
        margin=0.05,
        discriminator_rate=0.05,
        generator_rate=0.005,
        edition=2,  # 1 counted temperatures in parts of the net's own: the code's only for cosines
    ),
}
