"""Which labels are wrong: from the weights a teacher gave and from what the student predicts."""

from reweigh.audit.issues import find_label_issues
from reweigh.audit.quality import get_label_quality_scores

__all__ = ["find_label_issues", "get_label_quality_scores"]
