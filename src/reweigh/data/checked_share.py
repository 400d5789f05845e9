"""What the checked samples alone say of how many labels are wrong."""

from math import sqrt


def told(checked: dict[str, int] | None) -> str:
    """In a sentence, with its standard error; empty where no checked label differs, or nobody knows."""
    if not checked or not checked["wrong"]:
        return ""
    n, wrong = checked["samples"], checked["wrong"]
    share = wrong / n
    points = 100 * sqrt(share * (1 - share) / n)
    return (
        f"Of the {n:,} checked labels {wrong:,} differ from the data's ({share:.1%} ± {points:.1f} points): "
        "where they were drawn at random, so many of all labels are wrong."
    )
