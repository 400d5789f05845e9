"""Checkpoints that are whole or not there, and are believed only when their hashes match.

    checkpoints/step_00000120/
      model.safetensors   the student
      state.pt            everything else: plain tensors, numbers, strings, lists and dicts
      manifest.json       size and SHA-256 of both, versions, threads; written last

A checkpoint is written into `step_N.tmp-PID`, synced file by file, and renamed as a folder: a kill at
any moment leaves the older ones as they were. Neither format notices a flipped bit by itself, so the
manifest is compared before anything is parsed, and what does not match is passed over for the
checkpoint before it. Matching hashes prove that nothing was damaged, not who wrote it; therefore
nothing here can run code: safetensors, and torch.load of plain values only.
"""

import hashlib
import io
import json
import logging
import os
import pickle
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor
from torch.serialization import default_restore_location

from reweigh.errors import CheckpointError, NoCheckpointError, UnwritableError
from reweigh.replacing import sync_folder, write_through

log = logging.getLogger("reweigh")

MODEL, STATE, MANIFEST = "model.safetensors", "state.pt", "manifest.json"
KEPT = 2
_FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """What was read from one folder."""

    step: int
    student: dict[str, Tensor]
    state: dict[str, Any]
    made_with: dict[str, Any]
    """Versions, threads and device of the process that wrote it."""


class Checkpoints:
    """The checkpoints of one run, by the number of steps that were done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sound: set[int] = set()  # steps written or verified by this process
        _remove(folder.glob("*.tmp-*"))

    def steps(self) -> list[int]:
        """The steps at which there is a checkpoint, good or not, in order."""
        names = (path.name.removeprefix("step_") for path in self.folder.glob("step_*"))
        return sorted(int(name) for name in names if name.isdigit())

    def has(self, step: int) -> bool:
        """Whether this process knows of a good checkpoint at this step."""
        return step in self._sound

    def know(self, step: int) -> None:
        """Another process has written one at this step."""
        self._sound.add(step)

    def save(
        self,
        step: int,
        student: dict[str, Tensor],
        state: dict[str, Any],
        made_with: dict[str, Any],
    ) -> None:
        """Write one, then remove all but the last two; what is there stays if this fails."""
        beside = self.folder / f"{_name(step)}.tmp-{os.getpid()}"
        files = {MODEL: packed(student), STATE: pickled(state)}
        try:
            self.folder.mkdir(exist_ok=True)  # and nothing above it: a deleted run stays deleted
            beside.mkdir()
            for name, content in files.items():
                write_through(beside / name, content)
            write_through(beside / MANIFEST, _manifest(step, files, made_with))
            sync_folder(beside)
            self._give_name(beside, step)
        except OSError as error:
            shutil.rmtree(beside, ignore_errors=True)
            raise UnwritableError(
                f"Cannot write a checkpoint into {self.folder}: {error.strerror}; the ones before "
                "it are intact: make room or give write permission, then continue the run."
            ) from error
        self._sound.add(step)
        self._prune(step)

    def newest(self, device: torch.device | str = "cpu") -> Checkpoint | None:
        """The newest one that is as it was written; None where there is none at all.

        Damaged ones that are newer are renamed `step_N.bad`, with a warning.
        """
        damaged: dict[int, CheckpointError] = {}
        for step in reversed(self.steps()):
            try:
                found = self._read(step, torch.device(device))
            except CheckpointError as error:
                damaged[step] = error
                continue
            self._set_aside(damaged, instead=step)
            self._sound.add(step)
            return found
        if damaged:
            why = "; ".join(str(error) for error in damaged.values())
            raise NoCheckpointError(f"No checkpoint in {self.folder} can be used: {why}")
        return None

    def _give_name(self, beside: Path, step: int) -> None:
        final = self.folder / _name(step)
        if final.exists():
            final.rename(beside.with_name(f"{final.name}.tmp-{os.getpid()}-old"))
        beside.rename(final)
        sync_folder(self.folder)

    def _prune(self, newest: int) -> None:
        """Remove all but the last two; the one just written stays whatever its number."""
        for step in self.steps()[:-KEPT]:
            if step != newest:
                away = self.folder / f"{_name(step)}.tmp-{os.getpid()}"
                (self.folder / _name(step)).rename(away)  # never half a checkpoint under its name
                self._sound.discard(step)
        _remove(self.folder.glob("*.tmp-*"))

    def _set_aside(self, damaged: dict[int, CheckpointError], instead: int) -> None:
        for step, error in damaged.items():
            log.warning("%s Going back to the checkpoint at step %d.", error, instead)
            bad = self.folder / f"{_name(step)}.bad"
            _remove([bad])
            (self.folder / _name(step)).rename(bad)

    def _read(self, step: int, device: torch.device) -> Checkpoint:
        home = self.folder / _name(step)
        try:
            manifest = _checked_manifest((home / MANIFEST).read_bytes(), step)
            content = {name: (home / name).read_bytes() for name in (MODEL, STATE)}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"The checkpoint {home} is damaged ({error}).") from None
        for name, raw in content.items():
            if manifest["files"].get(name) != _fingerprint(raw):
                raise CheckpointError(f"The checkpoint {home} is damaged ({name} was changed).")
        try:
            student, state = load_tensors(content[MODEL]), unpickled(content[STATE], device)
        except (
            safetensors.SafetensorError,
            pickle.UnpicklingError,
            RuntimeError,
            EOFError,
        ) as error:
            reason = str(error).partition("\n")[0]
            raise CheckpointError(f"The checkpoint {home} cannot be read ({reason}).") from None
        return Checkpoint(step, student, state, manifest["made_with"])


def _name(step: int) -> str:
    return f"step_{step:08d}"


def packed(tensors: dict[str, Tensor]) -> bytes:
    """Copied, because safetensors refuses tied parameters, which share their memory."""
    return save_tensors(
        {name: t.detach().cpu().contiguous().clone() for name, t in tensors.items()}
    )


def pickled(state: dict[str, Any]) -> bytes:
    """In memory first: then a full disk is an OSError, whoever serialises."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def unpickled(raw: bytes, device: torch.device) -> dict[str, Any]:
    """Plain values only; what was on a GPU goes to `device`, generators' states stay on the CPU."""

    def place(storage: Any, location: str) -> Any:
        return default_restore_location(storage, "cpu" if location == "cpu" else str(device))

    return torch.load(io.BytesIO(raw), map_location=place, weights_only=True)


def _fingerprint(raw: bytes) -> dict[str, Any]:
    return {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def _manifest(step: int, files: dict[str, bytes], made_with: dict[str, Any]) -> bytes:
    body = {
        "format": _FORMAT,
        "step": step,
        "files": {name: _fingerprint(raw) for name, raw in files.items()},
        "made_with": made_with,
    }
    return _text(body | {"seal": hashlib.sha256(_text(body)).hexdigest()})


def _checked_manifest(raw: bytes, step: int) -> dict[str, Any]:
    """The manifest, if not one byte of it differs from what was written for this step."""
    body = json.loads(raw)
    seal = body.pop("seal")
    intact = seal == hashlib.sha256(_text(body)).hexdigest() and raw == _text(body | {"seal": seal})
    if not intact:
        raise ValueError("manifest.json was changed")
    if body["step"] != step or body["format"] != _FORMAT:
        raise ValueError(f"its manifest is of step {body['step']}, format {body['format']}")
    return body


def _text(body: dict[str, Any]) -> bytes:
    return (json.dumps(body, indent=2, sort_keys=True) + "\n").encode()


def _remove(folders: Iterable[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
