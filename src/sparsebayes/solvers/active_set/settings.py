"""What the default solver depends on, besides the parameters of `ActiveSet`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ActiveSetSettings:
    """Settings of the default solver. Gains are in nats, precisions on columns of unit norm.

    Parameters
    ----------
    crude_gain : float
        Growing before the exchanges ends when no addition gains more.
    trial_gain : float
        Growing ends when no addition gains more, while a model is only tried.
    exchange_gain : float
        Nats per active function that an exchange round must gain for another one.
    swap_gain : float
        What a swap must gain, or tol if that is more; also by how much a model must beat another.
    share : float
        Share of the best gain: additions and swaps that gain less wait for the next scoring pass.
    loose : float
        Joint Newton steps between moves end when the next is predicted to gain less.
    steps_after_pruning, steps_between_swaps, steps_after_adding, steps_when_crowded, first_steps : int
        Most joint Newton steps after the pruning of a pool on a small problem, between swaps (and after pruning
        on a larger one), after additions, after the pruning of additions to a model that is crowded and has more
        functions than half the rows, and after initialisation.
    smallest_pool : int
        With fewer candidates than this the model starts from the single best function.
    small : int
        Up to this many candidates a problem is small: all of them are also pruned together.
    level, level_of_all : float
        α/β of every function at the start of a pruning, and where a small problem is initialised from all candidates.
    hopeless : float
        α/β beyond which a function is pruned.
    parallel : float
        1 − |cosine| of two functions below which only the first enters a pool.
    spread_share : float
        Share of a pool that suffices if its functions are known to lie far apart.
    crowded : int
        Beyond this many active functions there are no exchanges and no swaps.
    saturated : float
        Active functions per row beyond which a crowded model ends the fit if the noise is estimated.
    initialise, exchange, grow, compare_all : tuple (int, float)
        (most rounds, power of the over-relaxed MacKay updates) of the pruning at initialisation, of an
        exchange, of a batch of additions, and of all candidates.
    substitutes : tuple (int, int)
        Fewest and most substitutes for each active function in an exchange.
    candidates_per_substitute : float
        Candidates for each active function that make one more substitute.
    agreed : float
        Two models of few functions that are so close in their objectives need no search.
    close : float
        Two models this close are both finished before the better one is chosen.
    loose_trial, trial_steps : float, int
        Joint Newton steps of a model that is regrown end when the next is predicted to gain less; most steps
        before it grows.
    rich_gain : float
        What an addition must gain while a model is regrown with the noise precision held too high.
    same : float
        A regrown model that is by less than this lower than the model before is the same, not yet finished.
    far_below : float
        A regrown model that is by so much worse than the model before is given up.
    """

    crude_gain: float = 1.0
    trial_gain: float = 0.3
    exchange_gain: float = 0.2
    swap_gain: float = 1e-3
    share: float = 0.1
    loose: float = 1e-2
    steps_after_pruning: int = 3
    steps_between_swaps: int = 6
    steps_after_adding: int = 4
    steps_when_crowded: int = 1
    first_steps: int = 20
    smallest_pool: int = 8
    small: int = 256
    level: float = 0.1
    level_of_all: float = 0.01
    hopeless: float = 1.0
    parallel: float = 1e-7
    spread_share: float = 2 / 3
    crowded: int = 300
    saturated: float = 0.75
    initialise: tuple[int, float] = (12, 1.3)
    exchange: tuple[int, float] = (8, 1.3)
    grow: tuple[int, float] = (4, 1.0)
    compare_all: tuple[int, float] = (500, 0.3)
    substitutes: tuple[int, int] = (3, 8)
    candidates_per_substitute: float = 10.0
    agreed: float = 0.3
    close: float = 5.0
    loose_trial: float = 0.2
    trial_steps: int = 3
    rich_gain: float = 0.5
    same: float = 0.05
    far_below: float = 8.0
