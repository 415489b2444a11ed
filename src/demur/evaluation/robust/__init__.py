"""Whether a ranker stays good when texts are changed: one suite, the same for all rankers."""

from demur.evaluation.robust.page import write_page
from demur.evaluation.robust.suite import Finding, Robustness, robustness

__all__ = ["Finding", "Robustness", "robustness", "write_page"]
