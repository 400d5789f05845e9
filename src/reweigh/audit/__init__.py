"""Which labels are wrong, and how many: from what a student that a teacher taught predicts."""

from reweigh.audit.issues import find_label_issues
from reweigh.audit.quality import get_label_quality_scores

__all__ = ["find_label_issues", "get_label_quality_scores"]
