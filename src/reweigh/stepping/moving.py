"""How the student moves: its gradient made whole, clipped and noted, then the optimizer's step.

We call the optimizer (`move`), or a loop of somebody else's does; its hooks tell us either way, so
that what the teacher goes back over is what happened.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from reweigh.distributed.gradients import Gradients
from reweigh.errors import UnsupportedError
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.engine import Engine
from reweigh.stepping.under_way import StepUnderWay
from reweigh.stepping.written_buffers import WrittenBuffers
from reweigh.student.average import Average


class Moving:
    """One step of the student after the other; a step that fails leaves no trace."""

    def __init__(
        self,
        optimizer: Optimizer,
        engine: Engine | None,
        clip: Clip | None,
        *,
        accumulate: int,
        normalise: str,
        modules: list[nn.Module],
        average: Average | None,
    ) -> None:
        self.optimizer, self.engine, self.clip = optimizer, engine, clip
        self.average = average
        self.under_way = StepUnderWay(
            optimizer, accumulate, normalise, self._about_to_move, self._has_moved
        )
        self.gradients = Gradients(optimizer)
        self._written = [WrittenBuffers(m) for m in modules]
        self._by_us = False

    def begin(self) -> None:
        """Before the first pass: what the passes may write is kept."""
        for buffers in self._written:
            buffers.keep()

    def move(self) -> None:
        """Normalise over the accumulated batch, clip, and let the optimizer step."""
        self._scale_gradients()
        if self.engine is not None:
            self.engine.recorder.keep_gradient()
        if self.clip is not None:
            self.clip.apply(self._moved())
        self._by_us = True
        try:
            self.optimizer.step()
        finally:
            self._by_us = False
        if not self.under_way.moved:
            raise UnsupportedError(
                "our hook did not see optimizer.step(): this optimizer is probably a copy; build a "
                "new Reweigher for it and load the old state_dict()"
            )
        torch.clear_autocast_cache()  # a loop inside one autocast would go on with the old θ

    @contextmanager
    def or_abandon(self) -> Iterator[None]:
        """If a step fails, forget it, so that the loop may catch the error and go on."""
        earlier = bool(self.under_way.weighed)
        try:
            yield
        except BaseException:
            self.abandon()
            if earlier:  # what passes have accumulated that no longer count
                self.optimizer.zero_grad(set_to_none=True)
            for buffers in self._written:
                buffers.put_back()
            if self.average is not None:
                self.average.begin_again_if_broken()
            raise

    def abandon(self) -> None:
        """Forget the step under way."""
        self.under_way.close()
        self.gradients.forget()
        if self.engine is not None:
            self.engine.abandon()

    def _about_to_move(self) -> None:
        """The optimizer is about to step, called by us or by the loop."""
        if not self._by_us:
            if not self.under_way.complete:  # an accumulated step that ends early
                self.gradients.sum_now()
            self._scale_gradients()
            if self.clip is not None:
                self.clip.apply_once(self._moved())
        if self.engine is not None:
            self.engine.recorder.remember()

    def _has_moved(self) -> None:
        """The optimizer has stepped, this moment."""
        if self.engine is not None:
            self.engine.recorder.note_end()

    def _scale_gradients(self) -> None:
        if self.under_way.passes == 1:
            return
        scale = self.under_way.scale_gradients()
        if self.engine is not None:
            self.engine.recorder.note_scale(scale)

    def _moved(self) -> Iterator[Tensor]:
        return (p for group in self.optimizer.param_groups for p in group["params"])
