"""What the checked samples alone say of how many labels are wrong."""

from math import sqrt


def told(checked: dict[str, int] | None) -> str:
    """In a sentence, with its standard error (or, of none, a limit at 95 %); empty where nobody knows."""
    if not checked:
        return ""
    n, wrong = checked["samples"], checked["wrong"]
    if not wrong:
        return (
            f"None of the {n:,} checked labels differs from the data's: where they were drawn at random, "
            f"probably fewer than {min(3 / n, 1):.1%} of all labels are wrong."
        )
    share = wrong / n
    points = 100 * sqrt(share * (1 - share) / n)
    return (
        f"Of the {n:,} checked labels {wrong:,} differ from the data's ({share:.1%} ± {points:.1f} points): "
        "where they were drawn at random, so many of all labels are wrong."
    )
