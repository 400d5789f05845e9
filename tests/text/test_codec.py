import json

import pytest

from reweigh.errors import CheckpointError, DataError
from reweigh.text.codec import Codec, TextForm
from reweigh.text.vocabulary import BEGIN, END, MASK, PAD, SPECIALS, UNKNOWN, Vocabulary


def codec():
    return Codec(TextForm(), [("h", "u"), ("hu", "n")], Vocabulary.of(["hun@@", "d", "d", "."]))


def test_specials_come_first_then_the_frequent():
    vocabulary = codec().vocabulary
    assert vocabulary.symbols == (*SPECIALS, "d", ".", "hun@@")
    assert (PAD, BEGIN, END, UNKNOWN, MASK) == (0, 1, 2, 3, 4)
    assert vocabulary.encode(["d", "<MASK>", "new"]) == [5, MASK, UNKNOWN]
    assert vocabulary.decode([BEGIN, 5, PAD, 6, END, 7]) == ["d", "."]


def test_sentences_to_numbers_and_back():
    numbers = codec().encode(["Hund."])
    assert numbers == [[7, 5, 6]]
    assert codec().decode_words([*numbers[0], END]) == ["hund", "."]
    assert codec().decode(numbers[0]) == "hund."
    assert codec().encode_words(["<MASK>"]) == [MASK]


def test_a_file_keeps_it(tmp_path):
    path = tmp_path / "vocabulary.json"
    codec().save(path)
    assert Codec.load(path).to_json() == codec().to_json()
    assert [p.name for p in tmp_path.iterdir()] == ["vocabulary.json"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"form": {}, "merges": [["a"]], "symbols": []}'])
def test_a_damaged_file_is_told_in_a_sentence(tmp_path, text):
    path = tmp_path / "vocabulary.json"
    path.write_text(text)
    with pytest.raises(CheckpointError, match="cannot be read as a vocabulary"):
        Codec.load(path)


def test_a_symbol_is_in_a_vocabulary_once():
    with pytest.raises(DataError, match="names a symbol twice"):
        Vocabulary([*SPECIALS, "a", "a"])
    with pytest.raises(DataError, match="does not start with"):
        Vocabulary(json.loads('["a"]'))


def test_marks_of_ours_that_stand_in_the_text_end_no_sentence():
    vocabulary = Vocabulary.of(["a", "b"])
    numbers = vocabulary.encode(["a", "</s>", "<pad>", "<s>", "<MASK>", "b"])
    assert numbers == [5, UNKNOWN, UNKNOWN, UNKNOWN, MASK, 6]
    assert vocabulary.decode(numbers)[-1] == "b"
