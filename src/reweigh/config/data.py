"""Which samples are learned from, which are trusted, and what noise is planted."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from reweigh.config.section import Section


def _known_noise(text: str) -> str:
    kind, _, rest = text.partition(":")
    if text == "none" or (kind == "matrix" and rest):
        return text
    if kind not in ("uniform", "flip"):
        raise ValueError("expected none, uniform:P, flip:P or matrix:FILE")
    try:
        rate = float(rest)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ValueError(f"the rate {rest!r} should be a number from 0 to 1, as in {kind}:0.4")
    return text


Noise = Annotated[str, AfterValidator(_known_noise)]


class DataConfig(Section):
    """The data set, its trusted part and the noise planted into the rest."""

    name: str = Field(default="mnist5k", min_length=1)
    """A built-in name (`reweigh data list`), or a path: image folder, .npz, .csv, .parquet."""

    dir: str | None = None
    """Where the files of a built-in set are; unset: $REWEIGH_DATA, then the known places."""

    labels: str | None = None
    """File of labels that replace the training labels: your own, noisy or corrected, drop in here."""

    true_labels: Literal["unknown", "original"] = "unknown"
    """With `labels`: are the replaced labels the truth? Then noise detection can be scored."""

    drop: str | None = None
    """File of ids of training samples to leave out, noise planted or not."""

    label_column: str = "label"
    """Column of a table or of a CSV of image paths that holds the label."""

    id_column: str | None = None
    """Column that names a table's rows, for files of ids, and is no feature; unset: one called id."""

    ignore: str | None = None
    """Columns of a table that are no features, separated by commas: keys, names, what came later."""

    image_size: int | None = Field(default=None, gt=0, le=4096)
    """Side in pixels to which images of a folder are resized; unset: all must be of one size."""

    trusted: str | None = None
    """Trusted set: a file of sample ids or an .npz; unset: the source's own, else split off."""

    trusted_per_class: int | None = Field(default=None, gt=0)
    """How many per class are split off as trusted before noise is planted; unset: at most 100."""

    test: str | None = None
    """Test set: a file of ids and right labels (id,label); unset: the source's own, else a fifth."""

    noise: Noise = "none"
    """Planted: none, uniform:P (may keep the label), flip:P (two other classes) or matrix:FILE."""

    imbalance: float = Field(default=1.0, ge=1)
    """Long tail: the largest class has this many times the samples of the smallest; 1 is even."""

    train_limit: int | None = Field(default=None, gt=0)
    """Seeded random subset of the training samples of this size; unset: all."""

    test_limit: int | None = Field(default=None, gt=0)
    """Random subset of the test samples of this size, the same for all seeds; unset: all."""

    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seeds the trusted set, the subset, the long tail and the noise; unset: the run's seed."""

    @property
    def truth_known(self) -> bool:
        """Whether the true labels are, as those under planted noise."""
        return self.noise != "none" or self.true_labels == "original"
