"""Prepared problems on disk, so that runs on the same text and settings prepare it once.

One file a problem, named by a hash of all that decides its content: arrays and JSON in a zip whose
checksums notice damage. A file that cannot be read is made anew; a folder that cannot be written
costs time and nothing else.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.places import cache_folder
from reweigh.errors import ReweighError
from reweigh.replacing import write_atomically
from reweigh.text.codec import Codec
from reweigh.text.corpus import Corpus, HeldOut, Ragged
from reweigh.text.problem import TranslationProblem

Arrays = dict[str, NDArray[Any]]


def place_of(key: str) -> Path:
    """Where the problem of this hash is kept."""
    return cache_folder() / "prepared" / f"{key}.npz"


def load(key: str) -> TranslationProblem | None:
    """The problem, or None where there is none or it is damaged."""
    try:
        with place_of(key).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return _problem({name: file[name] for name in file.files})
    except (OSError, ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile, zlib.error):
        return None
    except (NotImplementedError, ReweighError):  # a zip's header, or a vocabulary, was damaged
        return None


def store(key: str, problem: TranslationProblem) -> None:
    """Keep the problem, whole or not at all."""
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **_arrays(problem))
    with suppress(OSError):
        place_of(key).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place_of(key), content.getvalue())


def _arrays(problem: TranslationProblem) -> Arrays:
    held_out = _held_out(problem)
    texts = {n: {"references": p.references, "tokenised": p.tokenised} for n, p in held_out.items()}
    plain = {"codec": problem.codec.to_json(), "texts": texts, "record": problem.record}
    arrays: Arrays = {"plain": np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)}
    parts: dict[str, Corpus] = {"train": problem.train, **held_out}
    if problem.changed is not None and problem.clean is not None:
        arrays["changed"], parts["clean"] = problem.changed, problem.clean
    for name, part in parts.items():
        arrays[f"{name}.ids"] = part.ids
        for side, rows in (("source", part.source), ("target", part.target)):
            arrays[f"{name}.{side}"], arrays[f"{name}.{side}.offsets"] = rows.flat, rows.offsets
    return arrays


def _held_out(problem: TranslationProblem) -> dict[str, HeldOut]:
    tests = {f"tests.{name}": test for name, test in problem.tests.items()}
    return {"trusted": problem.trusted, "valid": problem.valid, **tests}


def _problem(arrays: Arrays) -> TranslationProblem:
    plain = json.loads(arrays["plain"].tobytes())
    held_out = {
        name: HeldOut(*_sides(arrays, name), **{k: tuple(v) for k, v in texts.items()})
        for name, texts in plain["texts"].items()
    }
    tests = {name[6:]: part for name, part in held_out.items() if name.startswith("tests.")}
    return TranslationProblem(
        train=Corpus(*_sides(arrays, "train")),
        trusted=held_out["trusted"],
        valid=held_out["valid"],
        tests=tests,
        codec=Codec.from_json(plain["codec"]),
        changed=arrays.get("changed"),
        clean=Corpus(*_sides(arrays, "clean")) if "changed" in arrays else None,
        record=plain["record"],
    )


def _sides(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[Ragged, Ragged, NDArray[Any]]:
    source, target = (
        Ragged(arrays[f"{name}.{side}"], arrays[f"{name}.{side}.offsets"])
        for side in ("source", "target")
    )
    return source, target, arrays[f"{name}.ids"]
