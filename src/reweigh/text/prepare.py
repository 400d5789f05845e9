"""From a description of the text to a translation problem.

Read, tokenise, filter, hold out, plant noise, learn the pieces, number: in this order, so that each
random choice is the same whatever the later steps are. Pieces and vocabulary are learned on the
training text *before* noise is planted: clean and noisy runs have the same student.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from reweigh import signals
from reweigh.data.seeds import generator
from reweigh.errors import UsageError
from reweigh.text import cache
from reweigh.text.bpe import Bpe, learn
from reweigh.text.codec import VOCABULARY, Codec, TextForm
from reweigh.text.corpus import Corpus, HeldOut, Ragged
from reweigh.text.hold_out import Split, split
from reweigh.text.noise import parse_noise, plant
from reweigh.text.pairs import Pairs
from reweigh.text.parts import Part
from reweigh.text.problem import TranslationProblem
from reweigh.text.segmented import unsegmented
from reweigh.text.sources import VALID, find_texts
from reweigh.text.spec import TextSpec
from reweigh.text.vocabulary import Vocabulary

_FORM, _FORM_WITHOUT_VALID = 1, 2
"""Raised whenever the same settings come to give other numbers: old caches are then not used."""

_PLACES = ("data", "data_dir", "vocabulary")  # what is found there counts, not where


def prepare(spec: TextSpec) -> TranslationProblem:
    """The problem that `spec` describes, worked out once per content of the files."""
    files = find_texts(spec.data, spec.data_dir, spec.source, spec.target)
    form = TextForm(spec.source, spec.target, spec.lowercase, spec.tokenised)
    given = None if spec.vocabulary is None else _given(spec.vocabulary, form)
    choices = {k: v for k, v in asdict(spec).items() if k not in _PLACES}
    version = _FORM if {"iwslt", *VALID} & set(files.parts) else _FORM_WITHOUT_VALID
    decides = [version, files.digest(), files.official, choices]
    decides += [given.to_json()] if given is not None else []
    key = sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
    problem = cache.load(key)
    if problem is None:
        parts = split(files.read(), form, spec, given=not files.official)
        problem = _numbered(parts, spec, given, form, {**choices, "content": key})
        cache.store(key, problem)
    words = [] if files.official or spec.noise != "none" else list(_cautions(set(files.parts)))
    words += unsegmented(problem.tests, spec.target)
    return replace(problem, record={"data": spec.data, **problem.record}, cautions=tuple(words))


def training_text(spec: TextSpec) -> Pairs:
    """The training pairs as their file has them, before anything was left out, cut or planted."""
    return find_texts(spec.data, spec.data_dir, spec.source, spec.target).read().train


def _given(place: Path, form: TextForm) -> Codec:
    """The pieces of another run, which must have cut its text into words alike."""
    codec = Codec.load(place / VOCABULARY if place.is_dir() else place)
    if codec.form != form:
        raise UsageError(
            f"{place} is of {codec.form}, and this text is to be {form}: set data.source, target, "
            "lowercase and tokenised as they were there."
        )
    return codec


def _cautions(given: set[str]) -> Iterator[str]:
    """What nobody vouches for, where parts were cut off pairs that may be wrong."""
    if not given & {"trusted", *VALID}:
        yield (
            "no trusted pairs were given: some were taken from the training text, which may be wrong; "
            "put pairs that somebody checked into trusted.tsv, this text into train.tsv, and name the "
            "folder of both"
        )
    if not any(name.startswith("test") for name in given):
        yield (
            "the test set was split off the training text: where that is wrong, a right translation "
            "scores low; give a test set to know the BLEU"
        )


def _numbered(
    parts: Split, spec: TextSpec, given: Codec | None, form: TextForm, choices: dict[str, Any]
) -> TranslationProblem:
    train = _limited(parts.train, spec)
    codec = given or _learned(train, form, spec.merges)
    clean = _corpus(train, codec)
    noise = parse_noise(spec.noise)
    noisy, changed = clean, None
    if noise is not None:
        source, target, changed = plant(train.source, train.target, noise, spec.seed)
        noisy = _corpus(Part(train.pairs, source, target), codec)
    problem = TranslationProblem(
        train=noisy,
        trusted=_held_out(parts.trusted, codec),
        valid=_held_out(parts.valid, codec),
        tests={name: _held_out(part, codec) for name, part in parts.tests.items()},
        codec=codec,
        changed=changed,
        clean=None if changed is None else clean,
        record={},
    )
    problem.record.update(**choices, dropped=parts.dropped, **_contents(problem))
    return problem


def _limited(train: Part, spec: TextSpec) -> Part:
    if spec.train_limit is None or spec.train_limit >= len(train):
        return train
    return train.cut(spec.train_limit, generator(spec.seed, "train limit"))[0]


def _learned(train: Part, form: TextForm, merges: int) -> Codec:
    """Merges and vocabulary of the training text, both languages as one."""
    counts = Counter(chain.from_iterable(_sentences(train)))
    signals.check()
    bpe = Bpe(learn(counts, merges))
    signals.check()
    pieces = chain.from_iterable(bpe.split(words) for words in _sentences(train))
    return Codec(form, bpe.merges, Vocabulary.of(pieces))


def _sentences(part: Part) -> Iterator[list[str]]:
    return chain(part.source, part.target)


def _corpus(part: Part, codec: Codec) -> Corpus:
    source, target = (
        Ragged.of([codec.encode_words(words) for words in side])
        for side in (part.source, part.target)
    )
    return Corpus(source, target, part.pairs.ids)


def _held_out(part: Part, codec: Codec) -> HeldOut:
    """With references; those of text that came tokenised are put together as sentences again."""
    corpus, form, sentences = _corpus(part, codec), codec.form, part.pairs.target
    if form.tokenised:
        sentences = [form.sentence(words) for words in part.target]
    return HeldOut(
        corpus.source,
        corpus.target,
        corpus.ids,
        references=tuple(sentences),
        tokenised=tuple(" ".join(words) for words in part.target),
    )


def _contents(problem: TranslationProblem) -> dict[str, Any]:
    """How much of what there is; planted noise as it fell out."""
    parts: dict[str, Corpus] = {"train": problem.train, "trusted": problem.trusted}
    parts |= {"valid": problem.valid, **problem.tests}
    tokens = {name: [int(side.sum()) for side in p.lengths()] for name, p in parts.items()}
    changed = problem.changed
    return {
        "counts": {name: len(part) for name, part in parts.items()},
        "tokens": tokens,
        "vocabulary": len(problem.vocabulary),
        "longest": int(
            max(np.max(side, initial=0) for part in parts.values() for side in part.lengths())
        ),
        "changed": None if changed is None else float(changed.mean()),
    }
