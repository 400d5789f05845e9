"""Is what a loop of somebody else's did with the weights what a replay would do?"""

from reweigh.errors import UsageError
from reweigh.metagrad.recursion import Recursion
from reweigh.metagrad.steps import Step
from reweigh.typing import Params


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
    off = sum(float((replayed[n] - g).square().sum()) for n, g in taken.items() if n in replayed)
    size = sum(float(g.square().sum()) for g in taken.values())
    if off > 0.05**2 * size:
        raise UsageError(
            f"the gradient that the optimizer got differs by {(off / size) ** 0.5:.0%} from the "
            "gradient of (weights * losses).sum() done again: multiply the losses by the weights "
            "and take the sum, call weights() right before the forward pass, give clip_norm= if "
            "the loop clips and accumulate= if it accumulates"
        )
