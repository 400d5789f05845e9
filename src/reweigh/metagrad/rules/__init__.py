"""Update rules of `torch.optim` that we can differentiate through, one file each."""

from torch.optim import Optimizer

from reweigh.errors import UnsupportedError
from reweigh.metagrad.rules.adam import AdamRule
from reweigh.metagrad.rules.base import Adjoint, Rule, Share
from reweigh.metagrad.rules.sgd import SGDRule

RULES: tuple[Rule, ...] = (SGDRule(), AdamRule())


def rule_for(optimizer: Optimizer) -> Rule:
    """The rule of an optimizer; anything else is refused by name, before training."""
    for rule in RULES:
        if type(optimizer) in rule.optimizers:
            for group in optimizer.param_groups:
                rule.check(group)
            return rule
    known = ", ".join(f"torch.optim.{o.__name__}" for rule in RULES for o in rule.optimizers)
    raise UnsupportedError(
        f"cannot differentiate through {type(optimizer).__module__}.{type(optimizer).__name__}: "
        f"use one of {known}"
    )


__all__ = ["RULES", "Adjoint", "Rule", "Share", "rule_for"]
