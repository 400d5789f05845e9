"""IWSLT'14 (Cettolo et al. 2014) as it was published: talks in tagged files, tests as XML.

Lines that only describe a talk (address, number, keywords) are left out, titles and descriptions
stay as sentences, and the five dev and test sets make one test set: what fairseq's script does, and
so what most published numbers were measured on.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from reweigh.data.archives import read_members
from reweigh.errors import DataError
from reweigh.text.pairs import Pairs, lines_of, paired

FOLDER = "de-en"
ARCHIVE = f"{FOLDER}.tgz"
VALID_EVERY = 23
"""Of the cleaned training pairs, each 23rd makes the validation set."""

_TESTS = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
_ABOUT_A_TALK = re.compile("<url>|<talkid>|<keywords>")
_TAG = re.compile("</?title>|</?description>")
_SEGMENT = re.compile(r"<seg id[^>]*>\s*(.*?)\s*</seg>")


def read(place: Path, source: str, target: str) -> tuple[Pairs, Pairs]:
    """Training and test pairs of the archive, or of the folder it unpacks to."""
    members = read_members(place, _members(source) | _members(target))
    train = [_train_lines(members, language, place) for language in (source, target)]
    test = [_test_lines(members, language, place) for language in (source, target)]
    for name, (a, b) in (("training", train), ("test", test)):
        if len(a) != len(b):
            raise DataError(
                f"{place} has {len(a):,} {source} and {len(b):,} {target} lines of {name} text; "
                f"expected equally many: fetch it again."
            )
    return paired(*train, name=str(place)), paired(*test, name=str(place))


def members_of(place: Path, source: str, target: str) -> list[Path]:
    """The files that decide what is read."""
    if place.is_file():
        return [place]
    names = sorted(_members(source) | _members(target))
    return [path for name in names if (path := place.parent / name).is_file()]


def _members(language: str) -> set[str]:
    tests = {f"{FOLDER}/IWSLT14.{name}.{FOLDER}.{language}.xml" for name in _TESTS}
    return {f"{FOLDER}/train.tags.{FOLDER}.{language}", *tests}


def _train_lines(members: Mapping[str, bytes], language: str, place: Path) -> list[str]:
    lines = _lines(members, f"{FOLDER}/train.tags.{FOLDER}.{language}", place)
    return [_TAG.sub("", line) for line in lines if not _ABOUT_A_TALK.search(line)]


def _test_lines(members: Mapping[str, bytes], language: str, place: Path) -> list[str]:
    names = [f"{FOLDER}/IWSLT14.{name}.{FOLDER}.{language}.xml" for name in _TESTS]
    lines = [line for name in names for line in _lines(members, name, place)]
    found = [segment[1] for line in lines if (segment := _SEGMENT.search(line))]
    return [line.replace("’", "'") for line in found]


def _lines(members: Mapping[str, bytes], name: str, place: Path) -> list[str]:
    if name not in members:
        raise DataError(f"{place} has no {name}; fetch it again (`reweigh data get iwslt14`).")
    return lines_of(members[name], f"{place}: {name}")
