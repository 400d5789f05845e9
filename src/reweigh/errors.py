"""What can go wrong, as values that carry their exit code.

Every message is one sentence: the value that was met, what was expected, the way out.
"""

from collections.abc import Sequence


class ReweighError(Exception):
    """An error that is told to the user in one sentence, without a traceback."""

    exit_code = 1


class UsageError(ReweighError, ValueError):
    """A wrong argument, option or configuration value."""

    exit_code = 2


class UnsupportedError(UsageError):
    """Something that cannot be differentiated through: refused before training, by name."""


class DataError(ReweighError):
    """Data that is missing, unreadable, leaking or wrong."""

    exit_code = 3


class CheckpointError(ReweighError):
    """A checkpoint that cannot be used."""

    exit_code = 4


class NoCheckpointError(CheckpointError):
    """A run of whose checkpoints none can be read: there is nothing to go on from."""


class UnwritableError(CheckpointError):
    """A folder that cannot be written, for now: what was saved before is intact."""


class DivergedError(ReweighError):
    """A loss, weight or meta-gradient that is not finite."""

    exit_code = 5


class NonFiniteSamples(DivergedError):
    """Losses or weights that are not finite, and whose they are."""

    def __init__(self, found: str, kind: str, samples: Sequence[int]) -> None:
        super().__init__(found, kind, samples)
        self.found, self.kind, self.samples = found, kind, samples

    def __str__(self) -> str:
        return self.told(self.samples)

    def told(self, names: Sequence[object]) -> str:
        """The sentence, with these names for the samples."""
        shown = ", ".join(map(str, names[:10]))
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return (
            f"the {self.found} for samples ({self.kind}) [{shown}]{more}: look at these inputs, "
            "lower the learning rate, or clip the gradient"
        )


class InterruptedRun(ReweighError):
    """Work that was asked to stop: a run has saved its state, an audit or a report written nothing half."""

    exit_code = 75


class OwnCodeError(ReweighError):
    """A model, method or teacher of the user's own that failed while it was used."""


class LostProcess(ReweighError):
    """A run in several processes that lost one: what was saved last is what is left."""

    exit_code = 75


def in_a_sentence(error: BaseException) -> ReweighError:
    """An error as one that is told in a sentence: itself, or its kind and first line."""
    if isinstance(error, ReweighError):
        return error
    return ReweighError(f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")
