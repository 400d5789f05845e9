from pathlib import Path

import reweigh.report
from reweigh.report.colours import PALETTE, SYMBOLS, colour, symbol
from reweigh.report.figure_drawing import _MARKERS


def test_things_of_one_colour_differ_by_their_mark() -> None:
    looks = [(colour(k), symbol(k)) for k in range(56)]
    assert len(set(looks)) == 56
    assert symbol(0) != symbol(1)
    assert set(SYMBOLS) <= set(_MARKERS)


def test_what_the_page_paints_otherwise_on_dark_is_in_the_palette() -> None:
    script = (Path(reweigh.report.__file__).parent / "templates/page.js").read_text()
    for dim in ("#0072b2", "#56b4e9"):
        assert f'"{dim}": ' in script
        assert dim in PALETTE
