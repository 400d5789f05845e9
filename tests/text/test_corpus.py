import numpy as np
import torch

from reweigh.text.corpus import Corpus, HeldOut, Ragged, joined


def corpus():
    source, target = Ragged.of([[7, 8], [9], [10, 11, 12]]), Ragged.of([[20], [21, 22, 23], [24]])
    return Corpus(source, target, np.asarray([3, 5, 8]))


def test_a_batch_is_padded_and_shifted():
    batch = corpus().batch(torch.tensor([1, 0]))
    assert batch["source"].tolist() == [[9, 2, 0], [7, 8, 2]]
    assert batch["target_in"].tolist() == [[1, 21, 22, 23], [1, 20, 0, 0]]
    assert batch["target_out"].tolist() == [[21, 22, 23, 2], [20, 2, 0, 0]]
    assert {t.dtype for t in batch.values()} == {torch.int64}
    assert corpus().batch(np.asarray([2]), "meta")["source"].device.type == "meta"


def test_lengths_are_what_a_batch_needs():
    source, target = corpus().lengths()
    assert (source.tolist(), target.tolist()) == ([3, 2, 4], [2, 4, 2])


def test_taking_and_joining():
    taken = corpus().take(np.asarray([False, True, True]))
    assert [row.tolist() for row in map(taken.source.__getitem__, range(2))] == [[9], [10, 11, 12]]
    assert taken.ids.tolist() == [5, 8]
    both = joined(taken, corpus())
    assert len(both) == 5
    assert both.target[2].tolist() == [20]
    assert both.batch(np.arange(5))["source"][4].tolist() == [10, 11, 12, 2]


def test_references_go_with_their_pairs():
    whole = HeldOut(*vars(corpus()).values(), references=("A", "B", "C"), tokenised=("a", "b", "c"))
    taken = whole.take(np.asarray([2, 0]))
    assert (taken.references, taken.tokenised) == (("C", "A"), ("c", "a"))
    assert taken.ids.tolist() == [8, 3]
