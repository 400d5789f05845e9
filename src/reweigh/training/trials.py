"""Short trainings of fresh students under a method, for methods that learn from several."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reweigh.config import Settings
from reweigh.methods import AnyProblem, Method
from reweigh.training.loop import EpochReport, Loop
from reweigh.training.progress import Progress
from reweigh.training.workshop import Workshop

History = list[tuple[int, float]]


class Trials:
    """Called with the number of a trial; a trial that was interrupted goes on where it was."""

    def __init__(
        self,
        config: Settings,
        problem: AnyProblem,
        method: Method,
        progress: Progress,
        start: Path | None = None,
    ) -> None:
        self.config, self.problem, self.method = config, problem, method
        self.progress, self.start = progress, start
        self.seconds = 0.0
        self.steps = 0
        """Of the trials that are over."""
        self.number: int | None = None
        """Of the trial under way."""
        self.history: History = []
        self.restore: Callable[[Loop], None] = lambda loop: None
        self.save: Callable[[Loop], None] = lambda loop: None

    def __call__(self, number: int) -> History:
        """Train once, with a seed of the trial's own for student and order of samples."""
        if self.number is None:
            self.number, self.history = number, []
        config = self.config.model_copy(update={"seed": self.config.seed + 7919 * (number + 1)})
        loop = Loop(Workshop(config, self.problem, self.method, self.start), save=self.save)
        loop.tell = lambda report: self._note(loop, report)
        self.restore(loop)
        loop.run()
        self.seconds += loop.seconds
        self.steps += loop.done
        self.number = None
        self.progress.note(f"trial {number + 1}: trusted accuracy {self.history[-1][1]:.2%}")
        return self.history

    def _note(self, loop: Loop, report: EpochReport) -> None:
        self.history.append((int(loop.samples_used), report.trusted.accuracy))

    def state_dict(self) -> dict[str, Any]:
        """What the trials so far came to."""
        names = ("seconds", "steps", "number")
        history = [list(one) for one in self.history]
        return {name: getattr(self, name) for name in names} | {"history": history}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        history: History = [(used, accuracy) for used, accuracy in state["history"]]
        vars(self).update(state | {"history": history})
