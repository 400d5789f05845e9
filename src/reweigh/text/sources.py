"""From what the user wrote (a name, a folder or a file) to sentence pairs.

A folder holds `train.de` and `train.en`, or `train.tsv`, gzipped or not; beside them, as far as
there are any, `valid` (or `val`, `dev`), `trusted`, and test sets whose names begin with `test`.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reweigh.data.catalogue import text_names
from reweigh.data.places import find
from reweigh.errors import DataError, UsageError
from reweigh.nearest import nearest
from reweigh.text import iwslt
from reweigh.text.pairs import Pairs, read_bytes, read_tsv, read_two

VALID = ("valid", "val", "dev")
_RAW = {"multi30k": "data/task1/raw"}  # where a clone of the official repository has the text


@dataclass(frozen=True)
class Texts:
    """Everything that was found."""

    train: Pairs
    tests: dict[str, Pairs]
    valid: Pairs | None = None
    trusted: Pairs | None = None
    valid_every: int | None = None
    """Every pair of this step in the cleaned training text is the validation set."""


@dataclass(frozen=True)
class TextFiles:
    """Where the text is; nothing is read yet but what a digest needs."""

    parts: dict[str, tuple[Path, ...]]
    """By part: two files, or one with tabs; or `iwslt` alone."""
    source: str
    target: str
    official: bool
    """The data set's authors drew the line between train and test."""

    def read(self) -> Texts:
        """All pairs of all parts."""
        if "iwslt" in self.parts:
            train, test = iwslt.read(self.parts["iwslt"][0], self.source, self.target)
            return Texts(train, {"test": test}, valid_every=iwslt.VALID_EVERY)
        pairs = {name: _read(paths) for name, paths in self.parts.items()}
        tests = {name: part for name, part in pairs.items() if name.startswith("test")}
        valid = [pairs[name] for name in VALID if name in pairs]
        return Texts(pairs["train"], tests, valid[0] if valid else None, pairs.get("trusted"))

    def digest(self) -> str:
        """A SHA-256 of the content of every file, gzipped or not, and of what part it is."""
        total = hashlib.sha256()
        for name, paths in sorted(self.parts.items()):
            if name == "iwslt":
                paths = iwslt.members_of(paths[0], self.source, self.target)
            for path in paths:
                content = hashlib.sha256(read_bytes(path)).hexdigest()
                total.update(f"{name} {content}\n".encode())
        return total.hexdigest()


def find_texts(data: str, data_dir: Path | None, source: str, target: str) -> TextFiles:
    """The files of a named data set, a folder, or a `.tsv` file."""
    if data in text_names():
        return _named(data, data_dir, source, target)
    path = Path(data)
    if path.is_dir():
        return TextFiles(_folder_parts(path, source, target), source, target, official=False)
    if path.is_file():
        return TextFiles({"train": (path,)}, source, target, official=False)
    raise UsageError(
        f"{data!r} is neither a text data set's name nor an existing folder or .tsv file"
        + nearest(data, text_names())
    )


def looks_like_text(path: Path) -> bool:
    """Whether a folder holds sentence pairs: train.tsv, or train.xx with train.yy."""
    if not path.is_dir():
        return False
    names = {file.name.removesuffix(".gz") for file in path.glob("train.*")}
    languages = [name for name in names if re.fullmatch(r"train\.[a-z]{2,3}", name)]
    others = {"train.csv", "train.npz", "train.npy", "train.txt", "train.zip"}
    return "train.tsv" in names or len(set(languages) - others) > 1


def _named(name: str, data_dir: Path | None, source: str, target: str) -> TextFiles:
    plain = [f"train.{source}.gz", f"train.{source}"]
    wanted = [*plain, *(f"{name}-{source}-{target}/{file}" for file in plain)]
    wanted += [f"{_RAW[name]}/{file}" for file in plain] if name in _RAW else []
    wanted += [iwslt.ARCHIVE, iwslt.FOLDER] if name == "iwslt14" else []
    place = find(name, wanted, data_dir)
    if place.name in (iwslt.ARCHIVE, iwslt.FOLDER):
        return TextFiles({"iwslt": (place,)}, source, target, official=True)
    return TextFiles(_folder_parts(place.parent, source, target), source, target, official=True)


def _folder_parts(folder: Path, source: str, target: str) -> dict[str, tuple[Path, ...]]:
    names = {path.name for path in folder.iterdir() if path.is_file()}
    parts: dict[str, tuple[Path, ...]] = {}
    for stem in sorted(_stems(names, source) | _stems(names, "tsv")):
        if stem not in ("train", "trusted", *VALID) and not stem.startswith("test"):
            continue
        _refuse_two(folder, names, stem, (source, target))
        if table := _one_of(names, f"{stem}.tsv"):
            parts[stem] = (folder / table,)
        else:
            parts[stem] = tuple(
                folder / (_one_of(names, f"{stem}.{language}") or f"{stem}.{language}")
                for language in (source, target)
            )
    if "train" not in parts:
        raise DataError(
            f"{folder} has no train.{source} with train.{target}, nor train.tsv (it has "
            f"{', '.join(sorted(names)[:8]) or 'no files'}); name the languages or the folder."
        )
    return parts


def _refuse_two(folder: Path, names: set[str], stem: str, languages: tuple[str, str]) -> None:
    """One part in two forms: nobody knows which is meant."""
    forms = (
        [f"{stem}.tsv", f"{stem}.tsv.gz"],
        *([f"{stem}.{x}", f"{stem}.{x}.gz"] for x in languages),
    )
    found = [[name for name in form if name in names] for form in forms]
    twice = next((form for form in found if len(form) > 1), None)
    if twice is None and found[0] and any(found[1:]):
        twice = [*found[0], *found[1], *found[2]]
    if twice is not None:
        raise DataError(f"{folder} has {' and '.join(twice)}: leave one of them.")


def _stems(names: Iterable[str], ending: str) -> set[str]:
    plain = {name.removesuffix(".gz") for name in names}
    return {name.removesuffix(f".{ending}") for name in plain if name.endswith(f".{ending}")}


def _one_of(names: set[str], name: str) -> str | None:
    return name if name in names else f"{name}.gz" if f"{name}.gz" in names else None


def _read(paths: tuple[Path, ...]) -> Pairs:
    return read_tsv(paths[0]) if len(paths) == 1 else read_two(paths[0], paths[1])
