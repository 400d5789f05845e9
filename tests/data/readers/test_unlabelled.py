import numpy as np
import pytest

from reweigh.data.encoding import Column, Encoding
from reweigh.data.readers.unlabelled import Reader
from reweigh.errors import DataError


@pytest.mark.parametrize(
    ("named", "names"),
    [(None, ["a", "b"]), ("key", ["7", "9"]), ("KEY", ["7", "9"]), ("other", ["0", "1"])],
)
def test_rows_are_called_as_the_run_says(tmp_path, named, names):
    (tmp_path / "t.csv").write_text("ID,key,x\na,7,0.5\nb,9,1.5\n")
    encoding = Encoding(columns=(Column(name="x"),))
    found = Reader("table", (1,), None, encoding, named)(tmp_path / "t.csv")
    assert found.names.tolist() == names
    np.testing.assert_array_equal(found.inputs, [[0.5], [1.5]])


def test_a_student_of_a_table_is_not_offered_arrays(tmp_path):
    encoding = Encoding(columns=(Column(name="x"),))
    with pytest.raises(DataError, match=r"rows of a table \(.csv, .parquet\), not"):
        Reader("table", (1,), None, encoding)(tmp_path)
