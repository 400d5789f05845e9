"""Settings as TOML, plain or with every field explained, and the id that they give a run."""

import hashlib
import json
import re
import tomllib
from collections.abc import Container, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import tomli_w

from reweigh.config.section import Section, allowed_range, meaning
from reweigh.config.settings import Settings

_ELSEWHERE = {"device", "threads"}  # where and how fast it runs: recorded in env.json
_WITHOUT_EFFECT = {"data": "dir", "training": "checkpoint_every"}
# folders of runs, named after their ids
_ORIGINS = {"method": "teacher_from", "student": "start", "data": "vocabulary"}


def plain_values(config: Section) -> dict[str, Any]:
    """The settings as dicts, lists and scalars; what is unset is left out."""
    return config.model_dump(mode="json", exclude_none=True)


def to_toml(config: Settings) -> str:
    """The resolved settings; reading them again gives an equal configuration."""
    return tomli_w.dumps(plain_values(config))


def explain(config: Settings, without: Container[str] = ()) -> str:
    """The same TOML with each field's meaning and range above it; unset fields are comments."""
    return "\n".join(_explained(config, table="", without=without)) + "\n"


def explained_table(section: Section, name: str) -> str:
    """One table of such a file."""
    return "\n".join([f"[{name}]", *_explained(section, f"{name}.")])


def _explained(section: Section, table: str, without: Container[str] = ()) -> Iterator[str]:
    """Values first, then the sub-tables, as TOML wants it."""
    fields = {name: f for name, f in type(section).model_fields.items() if name not in without}
    tables = [name for name in fields if isinstance(getattr(section, name), Section | dict)]
    for name in fields:
        if name not in tables:
            limits = allowed_range(fields[name])
            yield f"# {meaning(fields[name])}" + (f" ({limits})" if limits else "")
            yield _line(name, plain_values(section).get(name))
    for name in tables:
        value, full_name = getattr(section, name), f"{table}{name}"
        yield f"\n# {meaning(fields[name])}\n[{full_name}]"
        if isinstance(value, Section):
            yield from _explained(value, f"{full_name}.")
        else:
            yield from (_line(key, item) for key, item in value.items())


def _line(name: str, value: Any) -> str:
    return f"# {name} =" if value is None else tomli_w.dumps({name: value}).rstrip("\n")


def run_id(config: Settings) -> str:
    """Sixteen hex digits of the SHA-256 of what defines the result.

    Left out: the device and the thread count, which change the last bits but not the experiment,
    the folder in which a data set's files were found, and how often a checkpoint is written. Of a
    run that this one begins from, the folder's name counts and not where that is. So a table may be
    finished elsewhere.
    """
    values = _with_effect(plain_values(config))
    for section, key in _ORIGINS.items():
        if key in values[section]:
            values[section] = values[section] | {key: _origin(values[section][key])}
    return _digest(values)


def experiment(toml: str) -> str:
    """The same for runs that differ by their seed alone: what may be averaged into one row."""
    return _digest(defining(toml))


def length(training: Mapping[str, Any]) -> str:
    """How long a run is, in words: by its updates, where these were given."""
    updates, epochs = training.get("updates"), training.get("epochs")
    number, what = (epochs, "epoch") if updates is None else (updates, "update")
    return "" if number is None else f"{number:,} {what}{'s' * (number != 1)}"


def defining(toml: str) -> dict[str, Any]:
    """The settings that `experiment` is the hash of."""
    values = _with_effect(tomllib.loads(toml))
    values.pop("seed", None)
    for section, key in _ORIGINS.items():
        if key in values.get(section, {}):
            parts = _origin(values[section][key]).split("/")
            seedless = "/".join(map(row_in, parts))  # it has a seed of its own
            values[section] = values[section] | {key: seedless}
    return values


def row_in(folder: str, method: str = "") -> str:
    """ROW of ROW_sSEED_ID, as a comparison names its folders; others are called as they like.

    A folder cannot be called `module:Class`: the name of the run's `method` says where the colon was.
    """
    row = re.sub(r"_s\d+(_[0-9a-f]+)?$", "", folder)
    return method if method.replace(":", "-") == row else row


def _origin(path: str) -> str:
    """What a run begins from: a folder's own name; a file's with its folder, for all are called alike."""
    parts = PurePath(path).parts
    return "/".join(parts[-2:] if parts[-1].endswith((".safetensors", ".json")) else parts[-1:])


def _with_effect(values: dict[str, Any]) -> dict[str, Any]:
    values = {k: v for k, v in values.items() if k not in _ELSEWHERE}
    for section, idle in _WITHOUT_EFFECT.items():
        values[section] = {k: v for k, v in values.get(section, {}).items() if k != idle}
    return values


def _digest(values: dict[str, Any]) -> str:
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
