"""Averaging the students of several epochs: one in the middle, often better than the last of them."""

from torch import Tensor

State = dict[str, Tensor]


def averaged(mean: State, state: State, number: int) -> State:
    r"""$\bar\theta_m = \bar\theta_{m-1} + (\theta_m - \bar\theta_{m-1}) / m$ of the m-th state, m = `number`.

    What is not a float, such as a counter of batches, is the last one's.
    """
    held = {name: value.detach().clone() for name, value in state.items()}
    if number == 1:
        return held
    return {
        name: mean[name].lerp(value, 1 / number) if value.is_floating_point() else value
        for name, value in held.items()
    }
