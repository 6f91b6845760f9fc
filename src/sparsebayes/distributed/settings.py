"""What fits to rows on Dask depend on, besides the settings of the algorithms themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DistributedSettings:
    """Settings of passes over rows on Dask, and of kernel machines there. Gains are in nats.

    Parameters
    ----------
    arity : int
        Results that are added up in one task.
    attempts : int
        How often a pass is started, at most, if Dask gives it up because workers died.
    dense : int
        Candidates of a likelihood of classes up to which all of G comes with an expansion; beyond it rows of G are
        fetched by passes.
    fetched : int
        Candidates whose rows of G are fetched in one pass.
    first : int
        Functions of the first working set of labels: the landmarks, and rows drawn at random.
    rounds : int
        Working sets of labels after the first, at most.
    round_gain : float
        A working set of labels that gains less is the last.
    block_elements : int
        Active candidates times rows that are scored together.
    """

    arity: int = 8
    attempts: int = 5
    dense: int = 512
    fetched: int = 256
    first: int = 448
    rounds: int = 8
    round_gain: float = 1e-3
    block_elements: int = 1 << 19


DISTRIBUTED = DistributedSettings()
