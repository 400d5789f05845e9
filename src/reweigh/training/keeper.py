"""What a run is between two steps: gathered for a checkpoint, and put back to the bit."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from reweigh import __version__
from reweigh.distributed.group import from_first, gathered_on_first, rank, together, world
from reweigh.errors import CheckpointError, DivergedError
from reweigh.metagrad.engine import Engine
from reweigh.metagrad.steps import Step
from reweigh.metagrad.window import pack, unpack
from reweigh.methods import AnyProblem, Method
from reweigh.stepping.written_buffers import statistics
from reweigh.training.checkpoint import Checkpoint, Checkpoints, pickled, unpickled
from reweigh.training.generators import generator_states, set_generator_states, set_seeds
from reweigh.training.loop import Loop
from reweigh.training.run_folder import RunFolder
from reweigh.training.tasks.base import fingerprint
from reweigh.training.trials import Trials

_FIXED = {"data": "the data have changed", "device": "it was trained on another kind of device"}


class Keeper:
    """Saves the loops of one run and takes up what was saved: trials, then the run itself."""

    def __init__(
        self,
        home: RunFolder,
        problem: AnyProblem,
        method: Method,
        trials: Trials,
        device: torch.device,
        code: str,
    ) -> None:
        self.home, self.method, self.trials = home, method, trials
        self.made_with = made_with(problem, device, code)
        self.checkpoints = Checkpoints(home.path / "checkpoints")
        if together():  # damaged ones are set aside by the first process, before others look
            from_first(lambda: self.checkpoints.newest("cpu") is None)
        self.found = self.checkpoints.newest(device)

    def take_up(self, *, allow_drift: bool) -> None:
        """Before anything is built: check what was found, and put back what is not a loop's own."""
        if self.found is None:
            self.home.rewind_metrics(0)
            return
        drifts = _drifts(self.found, self.made_with, allow_drift)
        self.home.rewind_metrics(self.found.state["metrics"])
        self.home.log(f"continued from the checkpoint at step {self.found.step}")
        for drift in drifts:
            self.home.log(f"allowed: {drift}; the last bits may differ from a run in one piece")
        self.method.load_state_dict(self.found.state["method"])
        self.trials.load_state_dict(self.found.state["trials"])

    @property
    def in_trials(self) -> bool:
        """Whether the method's trials are still to be done, or to be finished."""
        return self.found is None or self.trials.number is not None

    def restore(self, loop: Loop) -> None:
        """Put back the loop that was saved; the next ones begin at their beginning."""
        if self.found is None:
            return
        state, shop = self.found.state, loop.shop
        shop.student.load_state_dict(self.found.student)
        shop.optimizer.load_state_dict(state["optimizer"])
        shop.scheduler.load_state_dict(state["scheduler"])
        shop.reweigher.load_state_dict(state["reweigher"])
        if loop.weights is not None:
            loop.weights.load_state_dict(state["weights"])
        loop.load_state_dict(state["loop"])
        set_generator_states(state["generators"], shop.device)
        self._restore_own(loop, state.get("others", []))
        self.found = None

    def _restore_own(self, loop: Loop, others: list[Tensor]) -> None:
        """What is each process's own: random numbers, and its part of the recorded batches."""
        engine = loop.shop.reweigher.engine
        if len(others) != world() - 1:  # another number of processes: parts would not fit
            if engine is not None:
                engine.steps = []
            set_seeds(loop.shop.config.seed, rank())
        elif rank() > 0:
            own = unpickled(others[rank() - 1].numpy().tobytes(), loop.shop.device)
            set_generator_states(own["generators"], loop.shop.device)
            if engine is not None:
                engine.steps = _with_common(unpack(own["window"]), engine.steps)

    def save(self, loop: Loop) -> None:
        """Write a checkpoint, unless there is one of this very step."""
        step = self.trials.steps + loop.done
        if self.checkpoints.has(step):
            return
        student, state = loop.shop.student.state_dict(), self._state(loop)
        learned = {*dict(loop.shop.student.named_parameters()), *statistics(loop.shop.student)}
        refuse_non_finite("student", {n: t for n, t in student.items() if n in learned})
        refuse_non_finite("student's optimizer", state["optimizer"])
        refuse_non_finite("teacher's optimizer", state["reweigher"].get("teacher_optimizer"))
        teacher = loop.shop.reweigher.teacher
        refuse_non_finite("teacher", dict(teacher.named_parameters()) if teacher else None)
        from_first(lambda: self.checkpoints.save(step, student, state, self.made_with))
        self.checkpoints.know(step)

    def _state(self, loop: Loop) -> dict[str, Any]:
        shop = loop.shop
        engine = shop.reweigher.engine
        generators = generator_states(shop.device)
        return {
            "optimizer": shop.optimizer.state_dict(),
            "scheduler": shop.scheduler.state_dict(),
            "reweigher": shop.reweigher.state_dict(),
            "loop": loop.state_dict(),
            "weights": None if loop.weights is None else loop.weights.state_dict(),
            "method": self.method.state_dict(),
            "trials": self.trials.state_dict(),
            "generators": generators,
            "others": gathered_on_first(_own(engine, generators))[1:] if together() else [],
            "metrics": self.home.metrics_length(),
        }


def _own(engine: Engine | None, generators: dict[str, Any]) -> Tensor:
    """What only this process has, as bytes, (n,) uint8: nobody else's GPU is asked for room."""
    steps = [] if engine is None else engine.steps
    window = pack([replace(step, theta=None, gradient=None) for step in steps])
    raw = pickled({"generators": generators, "window": window})
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8)


def _with_common(own: list[Step], first: list[Step]) -> list[Step]:
    """Recorded steps with θ and g, which are the same in all processes and were kept once."""
    return [
        replace(a, theta=b.theta, gradient=b.gradient) for a, b in zip(own, first, strict=False)
    ]


def made_with(problem: AnyProblem, device: torch.device, code: str) -> dict[str, Any]:
    """What must be the same for the same bits; `code` is the print of the user's own."""
    return {
        "reweigh": __version__,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "world_size": world(),
        "device": device.type,
        "data": fingerprint(problem),
        "code": code,
    }


def _drifts(found: Checkpoint, now: dict[str, Any], allow: bool) -> list[str]:
    """In what the process that saved differs from this one."""
    names = [name for name in now if found.made_with.get(name, now[name]) != now[name]]
    for name in names:
        if name in _FIXED:
            raise CheckpointError(
                f"The run cannot be continued: {_FIXED[name]} ({name} {found.made_with.get(name)}, "
                f"now {now[name]})."
            )
    words = {"code": "your own code"}
    drifts = [f"{words.get(n, n)} was {found.made_with.get(n)}, now {now[n]}" for n in names]
    if drifts and not allow:
        raise CheckpointError(
            f"Resuming would not be bit-identical: {'; '.join(drifts)}. Restore it (threads: --threads), "
            "or use reweigh resume --allow-drift."
        )
    return drifts


def refuse_non_finite(where: str, values: Any, name: str = "") -> None:
    """Stop before a checkpoint is written that no run could go on from."""
    if isinstance(values, dict):
        for key, value in values.items():
            refuse_non_finite(where, value, f"{name}.{key}" if name else str(key))
    elif isinstance(values, Tensor) and not bool(torch.isfinite(values).all()):
        raise DivergedError(
            f"{name!r} of the {where} is not finite and was not saved: lower the learning rate, or "
            "clip the gradient; the checkpoint before it is intact."
        )
