"""Where one machine is outgrown: whole folders scored by many workers, so that a kill loses nothing.

`open_scorer` loads once what a worker needs. The `Scorer` that it gives is a pure function over a batch,
which any engine can call.
"""

from demur.scale.opening import open_scorer
from demur.scoring import Scorer

__all__ = ["Scorer", "open_scorer"]
