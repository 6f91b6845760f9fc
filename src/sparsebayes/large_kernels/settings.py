"""What the search by working sets depends on."""

from __future__ import annotations

from dataclasses import dataclass

from sparsebayes.core.solver import Effort
from sparsebayes.solvers.active_set import ActiveSetSettings
from sparsebayes.solvers.certificate import GAIN_TOLERANCE


@dataclass(frozen=True)
class Pace:
    """How far a search by working sets goes, which depends on what a scoring pass costs. Gains are in nats.

    Parameters
    ----------
    substitutes, remembered : int
        Substitutes for each active function in a working set, and in a shortlist.
    round_gain : float
        What a round with candidates of a shortlist must gain for another one, or tol if that is more.
    addition_gain : float
        What an addition may still gain at the end, or tol if that is more.
    passes : int
        Most scoring passes over all candidates once the model is one of true columns; the certificate says
        what is left after them.
    effort : Effort
        How far a solver goes in a round: to a local maximum (FULL), or only to additions that gain a fair
        share of the best one (ROUND).
    """

    substitutes: int
    remembered: int
    round_gain: float
    addition_gain: float
    passes: int
    effort: Effort


@dataclass(frozen=True)
class WorkingSetSettings:
    """Settings of the search by working sets. Gains are in nats.

    Parameters
    ----------
    cheap, costly : Pace
        The pace if scoring passes go through a kernel of low rank, and if they evaluate the kernel.
    tolerances : tuple of float
        Largest element of diag(K − LLᵀ) of the first factor L and of the finer ones that follow, divided by
        the largest K_nn and times √n: the approximation changes the evidence by about
        Σ_n (residual of t)(error of f)/σ², which grows with √n.
    agreement : float
        Largest difference between the objectives under K ≈ LLᵀ and under the true kernel; for more, a finer
        factor is made.
    first, swept : int
        Without a factor, the candidates drawn at random that the first model is chosen from, and those,
        including the first, that it is improved with before all are scored.
    part : int
        Number of the swept candidates that are scored together.
    curvature_rows : int
        Rows that the curvature is sampled from if scoring passes evaluate the kernel.
    sample : int
        Candidates in a scoring pass while the model is still rough.
    shortlist_beyond : int
        With more than this many samples of candidates, samples and shortlists save time.
    block_elements : int
        Active functions times candidates that are scored together.
    additions : tuple of int
        Fewest and most additions in a working set, which are half the number of active functions in between.
    rounds : int
        Most rounds of any kind.
    exchange_gain : float
        A round of exchanges that gains less is the last.
    rough_gain : float
        A round of swaps and additions under K ≈ LLᵀ that gains less is the last.
    steps_after_round : int
        Most joint Newton steps after a round that is not to a local maximum.
    settled_gain : float
        With true columns, a round that gains less changes nothing; also what a swap may still gain at the
        end, or `addition_gain` if that is more.
    patience : int
        Rounds with true columns that may change nothing although the scoring passes predict a gain.
    crowded : int
        Beyond this many active functions solvers exchange and swap none, and need no substitutes.
    """

    cheap: Pace = Pace(4, 16, 1e-3, GAIN_TOLERANCE, 30, Effort.FULL)
    costly: Pace = Pace(1, 4, 16.0, 1.0, 2, Effort.ROUND)
    tolerances: tuple[float, ...] = (1e-1, 1e-4)
    agreement: float = 0.1
    first: int = 500
    swept: int = 33_000
    part: int = 4096
    curvature_rows: int = 4096
    sample: int = 2048
    shortlist_beyond: int = 8
    block_elements: int = 1 << 19
    additions: tuple[int, int] = (64, 192)
    rounds: int = 30
    exchange_gain: float = 4.0
    rough_gain: float = 1.0
    steps_after_round: int = 10
    settled_gain: float = 1e-3
    patience: int = 2
    crowded: int = ActiveSetSettings.crowded


WORKING_SETS = WorkingSetSettings()
