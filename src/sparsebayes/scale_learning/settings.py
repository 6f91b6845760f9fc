"""The settings of the search for scales."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScaleSearchSettings:
    """What the search for scales depends on.

    Parameters
    ----------
    few_rows : int
        Rows on which the starting widths are compared.
    rows : int
        Most rows with an exact covariance, which takes O(N³) per evaluation.
    many_rows : int
        Most rows with a covariance by subset of regressors, which takes O(Nm²) per evaluation.
    centres, judge_centres : int
        Inducing centres of the subset of regressors: during the search, and to compare its result with that
        of the exact covariance on fewer rows.
    widths : tuple of float
        Starting widths where amplitude and noise have no closed form, in units of half the largest distance.
    first_width, width_step, connecting, least_widths : float, float, float, int
        Elsewhere the starting widths that are compared: the largest, the ratio of one to the next, the smallest in
        units of the typical distance between neighbours, and how many there are at least.
    first_starts : int
        Most of these that the search begins from.
    ratio_range : tuple of float
        Least and largest log σ²/s there, s being the variance of f.
    widest : float
        Largest width, in units of the largest distance: an input along which the kernel is so wide has no
        effect.
    widest_start : float
        Largest width that a search with more rows starts from: beyond it the slope is too small to come back.
    steps, trial_steps : int
        Steps of L-BFGS: of the search, and of each start that is compared with others.
    tol : float
        Nats per row that a step of L-BFGS has to gain for another one.
    dropped : float
        Share of the inputs that are dropped together, where each has a scale of its own and few may matter.
    share_range : tuple of float
        Least and largest log variance of a part of f, in units of the variance of the target. Functions so wide that
        more is needed are nearly dependent, and few of them do not do what all of them together can.
    noise_range : tuple of float
        Least and largest log σ², in the same units.
    first_noise : float
        σ² at the start, in the same units.
    sparse_noise : float
        Part of the σ² found here that the sparse fit starts from. Rather too small than too large: a function
        too many is soon deleted, but a large σ² keeps functions out, which keeps σ² large.
    jitter : float
        Added to the diagonal of the exact covariance of f, in units of its mean: the covariance of a smooth
        kernel is singular to rounding.
    centre_jitter : float
        Added to the diagonal of the kernel matrix of the inducing centres, in units of its mean.
    """

    few_rows: int = 300
    rows: int = 1000
    many_rows: int = 20_000
    centres: int = 300
    judge_centres: int = 1000
    widths: tuple[float, ...] = (1.0, 0.3, 0.1, 2.5)
    first_width: float = 2.0
    width_step: float = 2.0
    connecting: float = 1.0
    least_widths: int = 3
    first_starts: int = 2
    ratio_range: tuple[float, float] = (-18.0, 4.0)
    widest: float = 1e3
    widest_start: float = 4.0
    steps: int = 60
    trial_steps: int = 20
    tol: float = 1e-6
    dropped: float = 0.2
    share_range: tuple[float, float] = (-7.0, 8.0)
    noise_range: tuple[float, float] = (-14.0, 1.0)
    first_noise: float = 0.1
    sparse_noise: float = 0.5
    jitter: float = 1e-9
    centre_jitter: float = 1e-8


DEFAULT = ScaleSearchSettings()
