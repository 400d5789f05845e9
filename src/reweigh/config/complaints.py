"""What pydantic found wrong, as sentences: the key, the value met, what is allowed."""

import json
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from reweigh.config.methods import METHODS, OwnConfig
from reweigh.config.section import Section, allowed_range, meaning, subsection
from reweigh.config.settings import TASKS
from reweigh.nearest import nearest

_LONGEST = 60  # characters of a value that are shown
_FREE = {"student.options": "integers", "method.options": "a list of such"}
_KINDS = {**METHODS, "ours": None, "own": OwnConfig}  # what pydantic names a method by


def complaints(error: ValidationError, root: type[Section]) -> list[str]:
    """One sentence per wrong key of `root`'s settings, in the order in which the keys were met."""
    by_key: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        key, parent, field = _locate(detail["loc"], root)
        by_key.setdefault(key, _sentence(detail, key, parent, field))
    return list(by_key.values())


def _locate(
    location: Iterable[int | str], root: type[Section]
) -> tuple[str, type[Section] | None, FieldInfo | None]:
    """The dotted key, the section it should be in, and its field if it is known there."""
    keys: list[str] = []
    parent, here, field = None, root, None
    for part in location:
        if keys == ["method"] and here is None and part in _KINDS:
            here = _KINDS[str(part)]  # pydantic names the chosen method, the user does not
            continue
        if here is None and field is not None and keys[-1] != "options":
            break  # an element of a list, or an alternative type: the key itself is enough
        if len(keys) == 3:
            break
        parent, keys = here or parent, [*keys, str(part)]
        if here is not None:
            field = here.model_fields.get(str(part))
        here = subsection(field) if here is not None else None
    return ".".join(keys), parent, field


def _sentence(
    detail: ErrorDetails, key: str, parent: type[Section] | None, field: FieldInfo | None
) -> str:
    kind, name = detail["type"], key.rpartition(".")[2]
    if key == "task":
        return f"task = {_show(detail['input'])}{nearest(str(detail['input']), TASKS)}"
    if key == "rows":
        return "rows are for reweigh compare alone: leave them out here"
    if kind == "extra_forbidden":
        full = full_key(name, [parent]) if parent and key == name else None
        near = f"; did you mean {full}?" if full else None
        return f"unknown key {key}{near or nearest(name, parent.model_fields if parent else ())}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        met = detail["input"].get("name") if isinstance(detail["input"], dict) else None
        own = (
            "" if (near := nearest(str(met), METHODS)).endswith("?") else ", and your module:Class"
        )
        return f"{key}.name = {_show(met)}{near}{own}"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"{key} = {_show(detail['input'])} should be a table, as in {key}.NAME = VALUE"
    if kind == "value_error":
        shown = "" if isinstance(detail["input"], dict) else f" = {_show(detail['input'])}"
        lead = f"{key}{shown}: " if key else ""
        return f"{lead}{detail['ctx']['error']}" if "ctx" in detail else key
    if (options := key.rpartition(".")[0]) in _FREE:  # pydantic complains once per alternative type
        return f"{key} = {_show(detail['input'])} should be a boolean, number, text or {_FREE[options]}"
    own = ", or your own as module:factory" if key == "method.teacher" else ""
    return f"{key} = {_show(detail['input'])} {_expectation(detail, field)}{own}"


def _expectation(detail: ErrorDetails, field: FieldInfo | None) -> str:
    if detail["type"] in ("tuple_type", "list_type"):
        one = json.dumps(detail["input"], ensure_ascii=False, default=str)
        return f"should be a list, as in [{one}]"
    if detail["type"] == "string_type":
        return f"""should be text: put it in quotes, as in '"{detail["input"]}"'"""
    if detail["type"] == "string_pattern_mismatch" and field:
        return f"is not one of: {meaning(field).rstrip('.')}"
    text = detail["msg"].replace("Input should", "should").replace("String should", "should")
    limits = allowed_range(field) if field else ""
    return f"{text} (allowed: {limits})" if limits else text


def full_key(name: str, kinds: Iterable[type[Section]]) -> str | None:
    """The full name of a setting; one of the run itself comes before one of a section."""
    for kind in kinds:
        if name in kind.model_fields and not isinstance(kind.model_fields[name].default, Section):
            return name
        for section, field in kind.model_fields.items():
            if name in getattr(field.annotation, "model_fields", ()):
                return f"{section}.{name}"
    return None


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
