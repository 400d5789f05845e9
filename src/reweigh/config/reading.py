"""Settings from a TOML file, options and `--set key=value`, checked as a whole."""

import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reweigh.config.complaints import complaints
from reweigh.config.methods import METHODS, OwnConfig
from reweigh.config.section import Section, subsection
from reweigh.config.settings import TASKS, Settings
from reweigh.errors import UsageError

DATA_ENDINGS = (".csv", ".parquet", ".npz")
LARGEST_FILE = 1_000_000  # bytes; settings take two thousand


def read_config(
    path: Path | None = None,
    options: Mapping[str, Any] | None = None,
    assignments: Iterable[str] = (),
) -> Settings:
    """Settings from `path`, then `options` (dotted names), then `key=value` text: the last wins."""
    assignments = tuple(assignments)
    return check(read_tree(path, options, assignments), named(path, options, assignments))


def read_tree(
    path: Path | None, options: Mapping[str, Any] | None, assignments: Iterable[str]
) -> dict[str, Any]:
    """The same, not checked yet."""
    tree = read_toml(path) if path else {}
    for key, value in (options or {}).items():
        assign(tree, key, value)
    for text in assignments:
        key, value = parse_assignment(text)
        unset(tree, key) if value == "" else assign(tree, key, value)
    return tree


def named(
    path: Path | None, options: Mapping[str, Any] | None = None, assignments: Iterable[str] = ()
) -> str:
    """What complaints call the source of settings."""
    more = " and the options" if options or [*assignments] else ""
    return f"{path}{more}" if path else "the settings"


def check(tree: Mapping[str, Any], source: str, method: str = "method") -> Settings:
    """A tree of plain values as settings, or one error that tells all that is wrong with it.

    `method` is what the source calls the table of the method.
    """
    kind = TASKS.get(str(tree.get("task")), TASKS["classification"])
    try:
        return kind.model_validate(tree)
    except ValidationError as error:
        found = [
            re.sub(r"\bmethod(?=\.|:| =)", method, one, count=1) for one in complaints(error, kind)
        ]
    if len(found) == 1:
        raise UsageError(f"In {source}: {found[0]}{'' if found[0].endswith('?') else '.'}")
    listed = "".join(f"\n  {complaint}" for complaint in found)
    raise UsageError(f"{len(found)} errors in {source}:{listed}")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a UTF-8 TOML file; a byte-order mark and Windows line ends are accepted."""
    if path.is_dir() or path.suffix.lower() in DATA_ENDINGS:
        raise UsageError(
            f"{path} is data, not a settings file (.toml); give it as --data {shlex.quote(str(path))}."
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"Cannot read the settings file {path}: {error.strerror}.") from None
    if len(raw) > LARGEST_FILE:
        raise UsageError(f"{path} has {len(raw):,} bytes: settings files end at {LARGEST_FILE:,}.")
    text = _decode(raw, path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{path}: tables or lists are nested too deeply.") from None
    except ValueError as error:  # TOMLDecodeError names line and column
        raise UsageError(f"{path} is not valid TOML: {error}.") from None


def _decode(raw: bytes, path: Path) -> str:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UsageError(f"{path}, line 1: the file is UTF-16; save it as UTF-8.")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8.") from None


def parse_assignment(text: str) -> tuple[str, Any]:
    """`a.b=v` as ("a.b", v), where v is read as TOML and else is the text itself."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set {text!r} should be KEY=VALUE, as in --set training.lr=0.1.")
    return key.strip(), _value(value.strip())


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return parsed["value"] if set(parsed) == {"value"} else text


def unset(tree: dict[str, Any], key: str) -> None:
    """Leave the dotted `key` at its default, whatever came before: `--set key=`.

    A key that nothing has is left in the tree, for the check to complain of.
    """
    *tables, last = key.split(".")
    here: Any = tree
    for name in tables:
        here = here.get(name) if isinstance(here, dict) else None
    if isinstance(here, dict) and last in here:
        del here[last]
    elif not _is_setting(key):
        assign(tree, key, "")


def _is_setting(key: str) -> bool:
    """Whether some task or method knows the dotted key; `options` and `rows` hold what they will."""
    *tables, last = key.split(".")
    kinds: list[type[Section]] = [*TASKS.values()]
    for name in tables:
        if name in ("options", "rows"):
            return True
        fields = [kind.model_fields.get(name) for kind in kinds]
        methods = [*METHODS.values(), OwnConfig] if name == "method" else []
        kinds = [*filter(None, map(subsection, fields)), *methods]
    return any(last in kind.model_fields for kind in kinds)


def assign(tree: dict[str, Any], key: str, value: Any) -> None:
    """Set the dotted `key` in a tree of dicts, making tables on the way."""
    *tables, last = key.split(".")
    for name in tables:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise UsageError(f"--set {key}: {name} is a value, not a table of settings.")
    tree[last] = value
