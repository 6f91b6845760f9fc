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
    steps_after_pruning, steps_between_swaps, steps_after_adding, first_steps : int
        Most joint Newton steps after the pruning of a pool on a small problem, between swaps (and after pruning
        on a larger one), after additions, and after initialisation.
    smallest_pool : int
        With fewer candidates than this the model starts from the single best function.
    small : int
        Up to this many candidates a problem is small: all of them are also pruned together.
    level : float
        α/β of every function at the start of a pruning.
    hopeless : float
        α/β beyond which a function is pruned.
    parallel : float
        1 − |cosine| of two functions below which only the first enters a pool.
    spread_share : float
        Share of a pool that suffices if its functions are known to lie far apart.
    crowded : int
        Beyond this many active functions there are no exchanges and no swaps.
    initialise, exchange, grow, compare_all : tuple (int, float)
        (most rounds, power of the over-relaxed MacKay updates) of the pruning at initialisation, of an
        exchange, of a batch of additions, and of all candidates.
    substitutes : tuple (int, int)
        Fewest and most substitutes for each active function in an exchange.
    candidates_per_substitute : float
        Candidates for each active function that make one more substitute.
    highest_noise, lowest_noise : float
        Noise variance, as a share of the mean square of t, at which noise annealing begins, and at which it
        ends for an estimate that has collapsed.
    close : float
        Two models this close are both finished before the better one is chosen.
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
    first_steps: int = 20
    smallest_pool: int = 8
    small: int = 256
    level: float = 0.1
    hopeless: float = 1.0
    parallel: float = 1e-7
    spread_share: float = 2 / 3
    crowded: int = 300
    initialise: tuple[int, float] = (12, 1.3)
    exchange: tuple[int, float] = (8, 1.3)
    grow: tuple[int, float] = (4, 1.0)
    compare_all: tuple[int, float] = (500, 0.3)
    substitutes: tuple[int, int] = (3, 8)
    candidates_per_substitute: float = 10.0
    highest_noise: float = 0.3
    lowest_noise: float = 1e-4
    close: float = 5.0
