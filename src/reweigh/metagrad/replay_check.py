"""Is what a loop of somebody else's did with the weights what a replay would do?"""

from collections.abc import Iterable

import torch
from torch import Tensor

from reweigh.errors import UsageError
from reweigh.metagrad.recursion import Recursion
from reweigh.metagrad.steps import Step
from reweigh.typing import Params

EVERY = 50
"""After the first two, every so many recorded steps are compared: a loop may begin to clip. Our choice."""


class OutsideChecks:
    """Which steps of a loop that goes backward by itself are compared with a replay.

    The first (a loss divided by something shows at once), the first whose weights differ (so does a
    loop that ignores them), and then one of many.
    """

    def __init__(self) -> None:
        self._recorded, self._first, self._apart = 0, False, False

    def wanted(self) -> bool:
        """Whether the recorded step that begins may be one of them; the same in all processes."""
        self._recorded += 1
        return not (self._first and self._apart) or self._recorded % EVERY == 0

    def due(self, apart: bool) -> bool:
        """Whether the step that was taken is one, given whether its weights differ in any process."""
        due = self._recorded % EVERY == 0 or not self._first or (apart and not self._apart)
        self._first, self._apart = True, self._apart or apart
        return due


def tells_apart(step: Step) -> bool:
    """Whether the weights differ enough that a loop which ignores them would be found out."""
    spread = [one.weights for one in step.passes if one.weights is not None]
    return not spread or any(bool(w.max() > 1.2 * w.min()) for w in spread)


def check_replay(recursion: Recursion, step: Step, taken: Params) -> None:
    """Compare a replayed gradient with the one that the optimizer got from the loop outside."""
    assert step.theta is not None
    remembered, step.gradient = step.gradient, None
    replayed = recursion.clipped(recursion.gradient(step, step.theta)) or {}
    step.gradient = remembered
    for one in step.passes:
        one.graph = None
    off = _squared([replayed[n] - g for n, g in taken.items() if n in replayed])
    size = _squared(taken.values()) or 1e-38
    if off > _allowed(step, taken) ** 2 * size:
        share = min((off / size) ** 0.5, 99.99)  # of nothing, it is everything
        raise UsageError(
            f"the optimizer's gradient differs by {share:.{int(share < 0.01)}%} from the replayed "
            "gradient of the weighted loss: call zero_grad() before and backward on loss() unchanged (or on "
            "(weights * losses).sum(), with weights() called right before the forward pass), put "
            "further terms into per_sample_loss, pass clip_norm= or accumulate= if your loop clips or "
            "accumulates, and let no optimizer hook change gradients" + _scaler(step)
        )


def _scaler(step: Step) -> str:
    """What else may be wrong in float16."""
    half = any(one.moment.in_float16 for one in step.passes)
    return "; under float16 autocast small gradients vanish without a GradScaler" if half else ""


def _squared(parts: Iterable[Tensor]) -> float:
    """Squared length of all parts together; a GPU is waited for once."""
    lengths = [part.float().square().sum() for part in parts]
    return float(torch.stack(lengths).sum()) if lengths else 0.0


def _allowed(step: Step, taken: Params) -> float:
    """The share by which kernels that add in any order differ; numbers of 16 bits are coarse."""
    return 0.05 if any(one.moment.is_coarse(taken.values()) for one in step.passes) else 0.005
