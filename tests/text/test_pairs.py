import gzip

import pytest

from reweigh.errors import DataError
from reweigh.text.pairs import read_tsv, read_two


def write(folder, name, raw):
    path = folder / name
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    return path


def test_two_files_gzipped_or_not(tmp_path):
    a = write(tmp_path, "a.de", "\ufeffeins\r\n\r\nzwei\u2028drei\u00a0vier\n")
    b = write(tmp_path, "a.en.gz", gzip.compress(b"one\nnothing\ntwo", mtime=0))
    pairs = read_two(a, b)
    assert pairs.source == ["eins", "zwei\u2028drei\u00a0vier"]
    assert pairs.target == ["one", "two"]
    assert pairs.ids.tolist() == [0, 2]
    assert pairs.empty == 1
    assert pairs.take(pairs.ids == 2).source == pairs.source[1:]


def test_one_file_with_tabs(tmp_path):
    pairs = read_tsv(write(tmp_path, "a.tsv", "eins\tone\nzwei\ttwo\n"))
    assert (pairs.source, pairs.target) == (["eins", "zwei"], ["one", "two"])
    with pytest.raises(DataError, match="line 2, has 3 columns; expected 2"):
        read_tsv(write(tmp_path, "b.tsv", "a\tb\na\tb\tc\n"))


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        ("a\nb\nc\n", "a\nb\n", r"has 3 lines and .*x\.en 2; line k"),
        ("\n\n", "a\nb\n", "no pair of sentences"),
        ("", "", "no pair of sentences"),
        ("a\n" + "w " * 100_000 + "\n", "a\nb\n", "line 2, has 100,000 words"),
        (b"a\nb\xff\n", "a\nb\n", r"line 2, is not UTF-8 text \(byte 0xff\)"),
        (gzip.compress(b"a\n" * 999, mtime=0)[:-9], "a\n", "cannot be unpacked"),
    ],
)
def test_what_is_doubtful_is_refused_in_a_sentence(tmp_path, a, b, sentence):
    with pytest.raises(DataError, match=sentence) as error:
        read_two(write(tmp_path, "x.de", a), write(tmp_path, "x.en", b))
    assert "\n" not in str(error.value)


def test_a_missing_file_is_told_with_its_neighbours(tmp_path):
    write(tmp_path, "train.en.gz", b"")
    with pytest.raises(DataError, match=r"train\.en does not exist; near it: train\.en\.gz"):
        read_two(tmp_path / "train.en", tmp_path / "train.de")
    with pytest.raises(DataError, match=r"does not exist\.$"):
        read_tsv(tmp_path / "no" / "a.tsv")
