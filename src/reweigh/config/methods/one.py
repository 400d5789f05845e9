"""What the settings of all methods have in common: kinds of numbers, and what is known of a method."""

from typing import Annotated, ClassVar

from pydantic import Field

from reweigh.config.section import Section

Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=100)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Penalty = Annotated[float, Field(ge=0, le=1)]
OwnCode = Annotated[str, Field(pattern=r"^\w[\w.]*:\w+$")]
"""`module:attribute`, importable from the current folder or PYTHONPATH."""
Option = bool | int | float | str

TRUSTED_SHARE = 0.1
"""Of the stream of whatever trains on trusted samples as well, unless it says otherwise. Our choice."""


class OneMethod(Section):
    """What is known of a method beside its settings."""

    on_trusted: ClassVar[bool] = False
    """Whether it has the trusted samples in its training stream, whatever its settings."""
    needs_truth: ClassVar[bool] = False
    """Whether it has to know the true labels, as only planted noise leaves them known."""
    not_for_pairs: ClassVar[str] = ""
    """Why it makes no sense of sentence pairs, where it makes none."""
    budget: ClassVar[str] = ""
    """What it runs on, by its settings, where its authors give it more; a table says so under itself."""
