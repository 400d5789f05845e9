"""Words to pieces and back: byte-pair encoding (Sennrich et al. 2016), joint over both languages.

A word is at first its characters, the last one marked as an end. Learning merges the most frequent
neighbours, over and over: (a, b) = argmax of (count, a, b). Applying does the merges in the order
they were learned. Both give what subword-nmt gives, the paper's tool, in a fraction of its time:
counts are kept up to date per word, and a heap knows the largest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeAlias

Merge: TypeAlias = tuple[str, str]

END = "</w>"
"""Marks the last piece of a word while merging."""
GO_ON = "@@"
"""Marks every other piece in text, as in `lo@@ west`."""
_LEAST = 2  # a pair that occurs once is no pattern
_LONGEST = 1000  # characters; merging takes the square of them, and no language has such words


def learn(counts: Mapping[str, int], merges: int) -> list[Merge]:
    """The first `merges` merges for words that occur so often; fewer where pairs get rare."""
    words = [(_characters(word), n) for word, n in counts.items() if len(word) <= _LONGEST]
    pairs, where = _count_pairs(words)
    heap = [(-n, _descending(pair), pair) for pair, n in pairs.items()]
    heapify(heap)
    learned: list[Merge] = []
    while heap and len(learned) < merges:
        n, key, pair = heappop(heap)
        if pairs[pair] != -n:  # counted down since it was put here
            heappush(heap, (-pairs[pair], key, pair))
            continue
        if -n < _LEAST:
            break
        learned.append(pair)
        for grown in _merge_everywhere(pair, words, pairs, where):
            heappush(heap, (-pairs[grown], _descending(grown), grown))
    return learned


class Bpe:
    """Splits words by learned merges; each distinct word is worked out once."""

    def __init__(self, merges: Iterable[Merge], whole: Iterable[str] = ()) -> None:
        self.merges = tuple(merges)
        self._rank = {merge: rank for rank, merge in enumerate(self.merges)}
        self._known: dict[str, tuple[str, ...]] = {word: (word,) for word in whole}  # never split

    def split(self, words: Iterable[str]) -> list[str]:
        """The pieces of a sentence, all but the last of a word ending in `@@`."""
        return [piece for word in words for piece in self._known.get(word) or self._pieces(word)]

    def _pieces(self, word: str) -> tuple[str, ...]:
        pieces = _characters(word[:_LONGEST])
        while len(pieces) > 1:
            best = min(pairwise(pieces), key=lambda pair: self._rank.get(pair, len(self._rank)))
            if best not in self._rank:
                break
            pieces = _merged(pieces, best)
        marked = (*(piece + GO_ON for piece in pieces[:-1]), pieces[-1].removesuffix(END))
        self._known[word] = marked
        return marked


def join(pieces: Iterable[str]) -> list[str]:
    """The words that the pieces make up."""
    return "".join(p.removesuffix(GO_ON) if p.endswith(GO_ON) else p + " " for p in pieces).split()


def _characters(word: str) -> list[str]:
    return [*word[:-1], word[-1] + END]


def _merged(pieces: Sequence[str], pair: Merge) -> list[str]:
    """Every occurrence of the pair as one piece, from the left."""
    out: list[str] = []
    k = 0
    while k < len(pieces):
        found = k + 1 < len(pieces) and (pieces[k], pieces[k + 1]) == pair
        out.append(pieces[k] + pieces[k + 1] if found else pieces[k])
        k += 2 if found else 1
    return out


def _count_pairs(
    words: Sequence[tuple[list[str], int]],
) -> tuple[Counter[Merge], dict[Merge, set[int]]]:
    """How often each pair of neighbours occurs, and in which words it may be found."""
    pairs: Counter[Merge] = Counter()
    where: dict[Merge, set[int]] = defaultdict(set)
    for position, (pieces, n) in enumerate(words):
        for pair in pairwise(pieces):
            pairs[pair] += n
            where[pair].add(position)
    return pairs, where


def _merge_everywhere(
    pair: Merge,
    words: list[tuple[list[str], int]],
    pairs: Counter[Merge],
    where: dict[Merge, set[int]],
) -> set[Merge]:
    """Merge the pair in all words and put the counts right; return the pairs that became more."""
    grown: set[Merge] = set()
    piece = "".join(pair)
    for position in where.pop(pair):
        pieces, n = words[position]
        merged = _merged(pieces, pair)
        for old in pairwise(pieces):
            pairs[old] -= n
        for new in pairwise(merged):
            pairs[new] += n
            if piece in new:
                where[new].add(position)
                grown.add(new)
        words[position] = (merged, n)
    return grown


def _descending(pair: Merge) -> tuple[tuple[int, ...], ...]:
    """A key that sorts strings backwards: among equal counts the last in the alphabet is first."""
    return tuple((*(-ord(c) for c in piece), 1) for piece in pair)
