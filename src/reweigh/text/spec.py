"""A description of the text that a run learns from."""

from dataclasses import dataclass
from pathlib import Path

from reweigh.errors import UsageError
from reweigh.text.noise import parse_noise


@dataclass(frozen=True, kw_only=True)
class TextSpec:
    """Which text, and what to do with it."""

    data: str
    """A text data set's name, a folder (see `sources`), or a `.tsv` file."""
    data_dir: Path | None = None
    """Where the files of named data sets are; else `REWEIGH_DATA`, else the cache folder."""
    source: str = "de"
    """Language translated from, as in the files' names."""
    target: str = "en"
    """Language translated into."""
    lowercase: bool = True
    tokenised: bool = False
    """The text was tokenised already, as Moses does it."""
    merges: int = 10_000
    """Of the joint byte-pair encoding."""
    vocabulary: Path | None = None
    """A run's folder, or its file, whose pieces are taken; unset: learned on the training text."""
    max_length: int = 175
    """Words a side; longer training pairs are left out."""
    max_ratio: float = 1.5
    """Longer side over shorter side; more uneven training pairs are left out."""
    trusted: int | None = None
    """How many pairs are trusted; unset: half of the validation set, at most 1,000."""
    noise: str = "none"
    """`none`, `mask:P` or `mask:P:Q` (see `noise`)."""
    train_limit: int | None = None
    """At most so many training pairs."""
    seed: int = 0
    """Of every random choice but the test set, which is the same for all seeds."""

    def __post_init__(self) -> None:
        parse_noise(self.noise)
        least = {"merges": 1, "max_length": 1, "max_ratio": 1, "trusted": 1, "train_limit": 1}
        for name, smallest in {**least, "seed": 0}.items():
            value = getattr(self, name)
            if value is not None and not value >= smallest:
                raise UsageError(f"{name} is {value}; expected at least {smallest}.")
        if self.source == self.target:
            raise UsageError(f"Source and target are both {self.source!r}; name two languages.")
