"""A pass whose graph outlives the student's step, so that it need not be recomputed to go back over it."""

from dataclasses import dataclass

from reweigh.metagrad.directional import Derivatives
from reweigh.metagrad.lean.wanted import Wanted
from reweigh.metagrad.recorder import Recorder
from reweigh.metagrad.steps import Pass
from reweigh.student.seen import Seen
from reweigh.typing import Params


@dataclass(frozen=True)
class KeptPass:
    """A pass under way on a copy of θ that the optimizer does not move."""

    derivatives: Derivatives
    recorder: Recorder
    leaves: Params
    wanted: Wanted

    def backward(self, one: Pass, seen: Seen) -> None:
        """Go backward so that the graph stays, and give the student its gradient."""
        levers = self.derivatives.levers(one.weights)
        one.graph = self.derivatives.graph(seen, self.leaves, levers, self.wanted, one.moment)
        one.kept = True
        self.recorder.give(one.graph.gradient)
