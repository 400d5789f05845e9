"""An unmodified `nn.Module` as the student: called at any θ, watched at named layers."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial

import torch
from torch import Tensor, nn

from reweigh.distributed.group import together
from reweigh.errors import UnsupportedError, UsageError
from reweigh.student.anatomy import Anatomy
from reweigh.student.batch import answered, as_numbers, check_losses, find_labels, find_trusted
from reweigh.student.moment import Moment
from reweigh.student.seen import Known, Seen, States, Tap, pool_channels, pool_last, pool_positions
from reweigh.typing import Batch, FindLabels, Params, PerSampleLoss, TrainingLoss

WRAPPERS = {
    "DistributedDataParallel": "its gradient hooks do not see a second backward, which makes the "
    "meta-gradient silently wrong; give the wrapped module itself (model.module): Reweigher sums over "
    "the processes by itself",
    "DataParallel": "it cannot be called at other parameters; give model.module",
    "FullyShardedDataParallel": "sharded parameters have no second backward",
    "FSDPModule": "sharded parameters have no second backward",
    "OptimizedModule": "compiled code has no second derivative; give the module itself "
    "(model._orig_mod) and compile only what evaluates it",
    "ScriptModule": "scripted modules cannot be called at other parameters",
}


def refuse_wrappers(module: nn.Module) -> None:
    """Refuse by name what cannot be differentiated through twice, wherever it stands inside."""
    for inner in module.modules():
        for cls in type(inner).__mro__:
            if cls.__name__ in WRAPPERS:
                why = WRAPPERS[cls.__name__]
                raise UnsupportedError(
                    f"a student wrapped in {cls.__name__} is not supported: {why}"
                )
        if inner._compiled_call_impl is not None:  # module.compile() keeps the class
            raise UnsupportedError(
                "a student compiled in place is not supported: compiled code has no second derivative; "
                "compile a copy of it to evaluate with"
            )
        if isinstance(inner, nn.SyncBatchNorm) and together():
            raise UnsupportedError(
                "torch's SyncBatchNorm has no second derivative: give the student with plain batch "
                "normalisation to reweigh.distributed.sync_batch_norm"
            )
        if isinstance(inner, nn.Embedding | nn.EmbeddingBag) and inner.sparse:
            raise UnsupportedError(
                f"{type(inner).__name__}(sparse=True) gives sparse gradients, which have no second "
                "derivative: build it with sparse=False"
            )


def find_layer(module: nn.Module, name: str) -> nn.Module:
    """The submodule of that name, the module itself for ""; unknown names get the nearest ones."""
    layers = dict(module.named_modules())
    if name in layers:
        return layers[name]
    near = get_close_matches(name, list(layers), n=3, cutoff=0.3)
    last = [known for known in layers if known][-5:]
    hint = f"did you mean {', '.join(near)}?" if near else f"its last ones are {', '.join(last)}"
    raise UsageError(f"the student has no layer named {name!r}; {hint}")


class Student:
    """φ_d ∘ φ_f with its loss: what a batch looks like from inside, at the present θ or another."""

    def __init__(
        self,
        module: nn.Module,
        per_sample_loss: TrainingLoss,
        taps: Iterable[Tap] = (),
        labels: FindLabels = find_labels,
        *,
        loss_is_teachers: bool = False,
    ) -> None:
        refuse_wrappers(module)
        self.module, self.anatomy = module, Anatomy(module)
        self.per_sample_loss, self.labels = per_sample_loss, labels
        self.loss_is_teachers = loss_is_teachers
        """Whether the training loss is a teacher's own, and so takes the average student's states."""
        self.taps = {tap: find_layer(module, tap.layer) for tap in taps}
        if len({tap.key for tap in self.taps}) < len(self.taps):
            raise UsageError(
                "two features reduce the same layer by functions of one name (two lambdas?), and "
                "could not be told apart: give the functions names of their own"
            )

    def look(
        self,
        batch: Batch,
        known: Known,
        loss: PerSampleLoss | None = None,
    ) -> Seen:
        """One forward pass with whatever parameters and buffers the student has right now.

        `loss` measures it by something else than the training loss.
        """
        losses, states = self._watched(partial(self.losses, batch, known, loss))
        labels = as_numbers(self.labels(batch))
        ids, trusted = _placed(known.ids, losses), find_trusted(batch)
        return Seen(losses, labels, states, known.progress, ids, trusted, known.average)

    def states(self, batch: Batch, answers: Callable[[nn.Module, Batch], Tensor | None]) -> States:
        """What stands at the taps when the student `answers`; when it is asked for its loss, if None."""

        def ask() -> Tensor:
            said = answers(self.module, batch)
            return self.losses(batch, Known()) if said is None else said

        return States(self._watched(ask)[1])

    @torch.no_grad()
    def peek(
        self,
        batch: Batch,
        known: Known,
        moment: Moment | None = None,
        loss: PerSampleLoss | None = None,
    ) -> Seen:
        """What a batch looks like right now, or at a `moment` of the same θ, without a trace."""
        moment = moment or Moment.now(self.module)
        with moment.again(self.module), self.at({}, moment.fresh_buffers()):
            return self.look(batch, known, loss)

    def losses(
        self,
        batch: Batch,
        known: Known,
        loss: PerSampleLoss | None = None,
    ) -> Tensor:
        """Only the losses, (n,). A teacher's training loss is told what the average student showed."""
        told = self.loss_is_teachers and loss is None and known.average is not None
        more = (known.average,) if told else ()
        return check_losses((loss or self.per_sample_loss)(self.module, batch, *more), batch)

    @contextmanager
    def at(self, theta: Params, buffers: Params | None = None) -> Iterator[None]:
        """Inside, the student stands at `theta` and reads and writes `buffers` in place of its own.

        Afterwards `buffers` holds what it left there.

        The swap may outlive the forward pass: what is recomputed inside a backward (gradient
        checkpointing) must find the same θ. Tied parameters move together.
        """
        given = theta if buffers is None else {**buffers, **theta}
        swapped = [
            (home, key, name, home[key], given[name])
            for home, key, name, _ in self.anatomy.places()
            if name in given
        ]
        try:
            for home, key, _, _, new in swapped:
                home[key] = new
            yield
        finally:
            for home, key, name, old, _ in swapped:
                left = home[key]  # a student may assign a buffer, not only write into it
                if buffers is not None and name in buffers and left is not None:
                    buffers[name] = left
                home[key] = old

    def leave(self, buffers: Params) -> None:
        """Let the student's own buffers be as a pass left their copies; some change their shape."""
        for home, key, name, _ in self.anatomy.places():
            own, left = home[key], buffers.get(name)
            if own is None or left is None:
                continue
            if own.shape == left.shape and own.dtype == left.dtype:
                own.copy_(left.detach())
            else:
                home[key] = left.detach()

    def _watched(self, run: Callable[[], Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """What `run` gives for n samples, (n, …), and the states that stood at the taps meanwhile."""
        states: dict[str, Tensor] = {}
        with self._tapped(states):
            given = run()
        for tap in self.taps:
            _check_state(tap, states.get(tap.key), len(given))
        return given, states

    @contextmanager
    def _tapped(self, states: dict[str, Tensor]) -> Iterator[None]:
        """Hooks for the length of one pass: the student carries none before or after."""
        handles = []
        try:
            for tap, layer in self.taps.items():
                handles.append(layer.register_forward_hook(_reader(tap, states)))
            yield
        finally:
            for handle in handles:
                handle.remove()


def _reader(
    tap: Tap, states: dict[str, Tensor]
) -> Callable[[nn.Module, tuple[object, ...], object], None]:
    def read(layer: nn.Module, args: tuple[object, ...], output: object) -> None:
        value = (args[0] if args else None) if tap.side == "input" else answered(output)
        if not isinstance(value, Tensor) or value.ndim == 0:
            met = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise UsageError(
                f"the {tap.side} of {tap.place} is {met}, but a tensor whose first "
                f"dimension is the batch is needed: name another layer, as in layer='classifier'"
            )
        if tap.key in states:
            raise UsageError(
                f"{tap.place} runs more than once in a forward pass, so which of its states is meant is "
                "not clear: name a layer that runs once, or take LossMarginTeacher(), which needs none"
            )
        states[tap.key] = (tap.reduce or _pooling(layer))(value)

    return read


def _check_state(tap: Tap, state: Tensor | None, n: int) -> None:
    if state is None:
        raise UsageError(
            f"{tap.place} exists but did not run in the forward pass, so the "
            "teacher cannot see it: name a layer that the loss goes through"
        )
    if len(state) != n:
        raise UsageError(
            f"the {tap.side} of {tap.place} is {tuple(state.shape)}, but a tensor whose first "
            f"dimension is the batch ({n}) is needed: name another layer"
        )


def _placed(ids: Tensor | None, losses: Tensor) -> Tensor | None:
    """Sample ids beside the losses; one for each."""
    if ids is None:
        return None
    if not isinstance(ids, Tensor) or ids.shape != losses.shape:
        met = tuple(ids.shape) if isinstance(ids, Tensor) else type(ids).__name__
        raise UsageError(f"ids must be a tensor with one id per sample ({len(losses)}), got {met}")
    return ids.to(losses.device)


def _pooling(layer: nn.Module) -> Callable[[Tensor], Tensor]:
    """By where a layer has its features: second in convolutions and their norms, last in linear ones."""
    second = nn.modules.conv._ConvNd, nn.modules.batchnorm._BatchNorm, nn.GroupNorm
    if isinstance(layer, second):
        return pool_channels
    return pool_last if isinstance(layer, nn.Linear | nn.LayerNorm) else pool_positions
