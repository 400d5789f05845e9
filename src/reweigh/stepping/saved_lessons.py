"""Lessons as plain containers of tensors, for a run that stops and goes on where it was.

A state goes back only into lessons that were built alike: what differs is named, and nothing of it
is taken over.
"""

from typing import TYPE_CHECKING, Any

from reweigh.errors import CheckpointError
from reweigh.metagrad.window import built, pack, refuse_other, unpack
from reweigh.student.average import Average
from reweigh.student.batch import moved_to
from reweigh.teachers.base import Teacher
from reweigh.typing import Params

if TYPE_CHECKING:
    from reweigh.stepping.lessons import Lessons


def save(lessons: "Lessons") -> dict[str, Any]:
    """Teacher, its optimizer, counters and the recorded steps."""
    state: dict[str, Any] = {"clock": lessons.clock.state_dict()}
    if lessons.teacher is not None:
        state["teacher"] = lessons.teacher.state_dict()
    if lessons.average is not None:
        state["average"] = lessons.average.state_dict()
    if lessons.optimizer is not None:
        state["teacher_optimizer"] = lessons.optimizer.state_dict()
    if lessons.engine is not None:
        state["window"] = pack(lessons.engine.steps)
        state["built"] = built(lessons.engine)
    return state


def load(lessons: "Lessons", state: dict[str, Any]) -> None:
    """Go on from what `save` gave."""
    _refuse_other_parts(lessons, state)
    teacher, optimizer, engine = lessons.teacher, lessons.optimizer, lessons.engine
    if engine is not None:
        refuse_other(engine, state["built"])
    lessons.clock.refuse_other(state["clock"])
    if teacher is not None:
        _refuse_other_teacher(teacher, state["teacher"])
    if lessons.average is not None:
        _refuse_other_average(lessons.average, state["average"])
    if optimizer is not None:
        optimizer.load_state_dict(state["teacher_optimizer"])  # which refuses before it changes
    if teacher is not None:
        teacher.load_state_dict(state["teacher"])
    if lessons.average is not None:
        lessons.average.load_state_dict(state["average"], lessons.device)
    if engine is not None:
        engine.steps = unpack(moved_to(state["window"], lessons.device))
        if engine.trajectory == "auto":  # it had chosen by the memory that was free
            engine.trajectory = state["built"]["trajectory"]
    lessons.clock.load_state_dict(state["clock"])


def _refuse_other_parts(lessons: "Lessons", state: dict[str, Any]) -> None:
    parts = {
        "clock": lessons.clock,
        "teacher": lessons.teacher,
        "average": lessons.average,
        "teacher_optimizer": lessons.optimizer,
        "window": lessons.engine,
        "built": lessons.engine,
    }
    needed = {name for name, part in parts.items() if part is not None}
    if "clock" not in state:
        raise CheckpointError("this is not a state_dict() of a Reweigher: it has no 'clock'")
    if state.keys() != needed:
        raise CheckpointError(
            f"the saved state holds {_named(set(state))}, but this reweigher needs {_named(needed)}: "
            "build it as it was when saved"
        )


def _named(parts: set[str]) -> str:
    return ", ".join(sorted(parts - {"clock"})) or "nothing"


def _refuse_other_teacher(teacher: Teacher, saved: dict[str, Any]) -> None:
    """A state whose parts have other names or shapes is of another kind, size or version."""
    if differ := _differing(teacher.state_dict(), saved):
        raise CheckpointError(
            f"the saved teacher is not this {type(teacher).__name__}: they differ in {differ}; "
            "build it as it was, go on with the version of reweigh that saved it, or start again"
        )


def _refuse_other_average(average: Average, saved: Params) -> None:
    """Nothing was held before the first step, and that fits any student."""
    if saved and (differ := _differing(average.now(), saved)):
        raise CheckpointError(f"the saved average is of another student: they differ in {differ}")


def _differing(own: dict[str, Any], saved: dict[str, Any]) -> str:
    """The names of what has another shape, or is in one of them only."""
    return ", ".join(sorted({name for name, _ in _shapes(own) ^ _shapes(saved)}))


def _shapes(state: dict[str, Any]) -> set[tuple[str, Any]]:
    return {(name, getattr(part, "shape", None)) for name, part in state.items()}
