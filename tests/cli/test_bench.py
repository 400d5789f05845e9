import pytest
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.errors import UsageError


@pytest.mark.parametrize("sizes", ["", "ten", "10,", "-5", "0"])
def test_wrong_sizes_are_refused(sizes: str) -> None:
    with pytest.raises(UsageError, match="should be whole numbers"):
        CliRunner().invoke(
            app, ["bench", "weight-store", f"--sizes={sizes}"], catch_exceptions=False
        )
