"""Checkpoints: what a long fit has found so far, in a file from which it is resumed."""

from sparsebayes.checkpoints.identity import digest
from sparsebayes.checkpoints.journal import Journal, check_path, open_journal
from sparsebayes.checkpoints.storage import Prefix

__all__ = ["Journal", "Prefix", "check_path", "digest", "open_journal"]
