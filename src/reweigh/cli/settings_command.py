"""Verbs that take settings: `--lr 0.1` is told to be `--set training.lr=0.1`."""

from typing import Any

from typer.core import TyperCommand

from reweigh.errors import UsageError


class SettingsCommand(TyperCommand):
    """A verb whose unknown options may be settings by their short names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As always, unless an option is no option but the name of a setting."""
        known = {option for parameter in self.params for option in parameter.opts}
        for position, text in enumerate(args):
            option, _, value = text.partition("=")
            if option.startswith("--") and option not in known:
                _refuse_setting(option, value or next(iter(args[position + 1 :]), "…"))
        return super().parse_args(ctx, args)


def _refuse_setting(option: str, value: str) -> None:
    from reweigh.config import RunConfig, TranslationConfig
    from reweigh.config.complaints import full_key

    name = option.removeprefix("--").replace("-", "_")
    key = full_key(name, (RunConfig, TranslationConfig))
    if key is not None:
        raise UsageError(
            f"There is no option {option}; settings are given as --set {key}={value} "
            f"(--print-config shows them all)."
        )
