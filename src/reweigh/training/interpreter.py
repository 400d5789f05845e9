"""A finished translation run as something that translates."""

from collections.abc import Sequence
from pathlib import Path

from reweigh.config import TranslationConfig
from reweigh.decoding.beam import Beam
from reweigh.errors import UsageError
from reweigh.run_files import student_file
from reweigh.text.codec import VOCABULARY, Codec
from reweigh.text.vocabulary import UNKNOWN
from reweigh.training.environment import device_after
from reweigh.training.run import set_up_torch, settings_of
from reweigh.training.start import load_student
from reweigh.training.tasks.translation import build_translator
from reweigh.training.translating import sources_alone, translations


class Interpreter:
    """The student and the vocabulary of the run in `folder`; its data are not needed."""

    def __init__(
        self,
        folder: Path,
        *,
        last: bool = False,
        device: str | None = None,
        threads: int | None = None,
    ) -> None:
        config = settings_of(folder)
        if not isinstance(config, TranslationConfig):
            raise UsageError(
                f"{folder} is a run of task = {config.task!r}, which cannot translate."
            )
        set_up_torch(config.model_copy(update={"threads": threads or config.threads}))
        self.device = device_after(config.device, device)
        self.codec = Codec.load(folder / VOCABULARY)
        self.student = build_translator(config, len(self.codec.vocabulary)).to(self.device)
        load_student(self.student, student_file(folder, last=last))

    def unknown_share(self, lines: Sequence[str]) -> float:
        """Share of the pieces of these sentences that training never saw."""
        pieces = [number for row in self.codec.encode(lines) for number in row]
        return pieces.count(UNKNOWN) / max(1, len(pieces))

    def translate(self, lines: Sequence[str], how: Beam, max_tokens: int) -> list[str]:
        """One translation for each line; an empty one stays empty."""
        rows = self.codec.encode(lines)
        full = [k for k, row in enumerate(rows) if row]
        corpus = sources_alone([rows[k] for k in full])
        found = [""] * len(lines)
        numbers = translations(self.student, corpus, how, max_tokens, self.device) if full else []
        for k, best in zip(full, numbers, strict=True):
            found[k] = self.codec.decode(best)
        return found
