"""What all settings have in common: frozen, complete, finite, explained under each field."""

from typing import Any

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

_SIGNS = {Gt: ("gt", ">"), Ge: ("ge", "≥"), Lt: ("lt", "<"), Le: ("le", "≤")}


class Section(BaseModel):
    """A group of settings. Unknown keys, NaN, infinities and silent conversions are refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
    )


def allowed_range(field: FieldInfo) -> str:
    """The limits of a number as text, such as `> 0, ≤ 1`; empty when there are none."""
    limits = []
    for mark in field.metadata:
        if type(mark) in _SIGNS:
            attribute, sign = _SIGNS[type(mark)]
            limits.append(f"{sign} {getattr(mark, attribute)}")
    return ", ".join(limits)


def meaning(field: FieldInfo) -> str:
    """The docstring under a field, in one line."""
    return " ".join((field.description or "").split())


def subsection(field: FieldInfo | None) -> type[Section] | None:
    """The `Section` class that a field holds, or None for a plain value."""
    annotation: Any = field.annotation if field else None
    is_section = isinstance(annotation, type) and issubclass(annotation, Section)
    return annotation if is_section else None
