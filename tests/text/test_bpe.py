import random
from collections import Counter
from itertools import pairwise

import pytest

from reweigh.text.bpe import Bpe, join, learn

SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def by_hand(counts, merges):
    """The definition, slowly: count all pairs anew, take the greatest of (count, pair)."""
    words = [([*word[:-1], word[-1] + "</w>"], n) for word, n in counts.items()]
    learned = []
    while len(learned) < merges:
        pairs = Counter()
        for pieces, n in words:
            for pair in pairwise(pieces):
                pairs[pair] += n
        best = max(pairs, key=lambda pair: (pairs[pair], pair), default=None)
        if best is None or pairs[best] < 2:
            break
        learned.append(best)
        for pieces, _ in words:
            k = 0
            while k + 1 < len(pieces):
                if (pieces[k], pieces[k + 1]) == best:
                    pieces[k : k + 2] = ["".join(best)]
                k += 1
    return learned


# What subword-nmt 0.3.8 learns from these words.
def test_the_merges_of_subword_nmt():
    expected = (
        "s t</w>|e st</w>|l o|w est</w>|n e|ne west</w>|lo w</w>|w i|wi d|wid est</w>|w e|we r</w>|"
        "lo wer</w>"
    )
    assert learn(SENNRICH, 100) == [tuple(merge.split(" ")) for merge in expected.split("|")]


@pytest.mark.parametrize("seed", range(20))
def test_learning_is_its_definition(seed):
    rng = random.Random(seed)
    words = ("".join(rng.choices("aab", k=rng.randint(1, 9))) for _ in range(60))
    counts = Counter({word: rng.randint(1, 9) for word in words})
    assert learn(counts, 80) == by_hand(counts, 80)


def test_pieces_and_back():
    bpe = Bpe(learn(SENNRICH, 6), whole=["<MASK>"])
    assert bpe.split(["newest", "<MASK>", "lowest", "ü"]) == [
        "newest", "<MASK>", "lo@@", "west", "ü",
    ]  # fmt: skip
    words = ["slower", "<MASK>", "widest", "a@b", "x"]
    assert join(bpe.split(words)) == words
    assert len(bpe.split(["a" * 5000])) == 1000  # no such word exists; cut, not endless
