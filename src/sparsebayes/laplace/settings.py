"""The settings of the Laplace loop, and of the search for the shape of the noise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LaplaceSettings:
    """What the Laplace loop depends on.

    newton_steps, halvings : most Newton steps to a mode, and halvings of each.
    mode_tolerance : a step predicted to gain less is not taken, in nats per row.
    rounding : a step predicted to gain less is the last if it is not half of the one before, in nats per row.
    reached : what Newton's method may leave to gain, in nats per row, for its end to count as the mode.
    alternations : most alternations of mode and α.
    undamped : alternations before steps in α are damped or lengthened.
    shorter, recovery : a step that swings back must be shorter than this share of the shortest so far, or the
        next are halved; otherwise they grow by this factor until they are whole again.
    patience : steps that may follow without one of them being half as long as the last such step, before the
        alternation counts as one that does not converge.
    hope : an alternation that is further below what it has to reach than this many of its last changes is
        given up.
    least_share : what is left at least of a step that is halved again and again.
    near, longest : a step in α that repeats the last one and is shorter than this is lengthened, at most by this
        factor.
    climbs : halvings of a step in α that lowers the evidence, if only steps that raise it are taken.
    rough : largest change of a log α at which α counts as roughly settled.
    fresh_gain : what a selection from an empty model must gain over the one before it, in nats.
    fresh_starts : how often functions are selected from an empty model, after the first time, before the
        first round.
    exchange_gain : a round that adds nothing must gain this by exchanges for another, in nats.
    growth, small : a round of the solver ends when it has made the model this many times larger, and larger
        than `small` functions: further from where it was made the expansion means little.
    batch, batch_share, independence : if a round of the solver is not taken, at most this many additions are
        tried together, then one by one, of at least this share of the best gain, with |cosines| below this in
        the metric C⁻¹.
    trials, trial_work, refits : at the end, for how many additions that raise the evidence with the mode found
        again α settles: this many, or more if N·S² times their number is less than `trial_work`; and how many are
        tried for each of these.
    low_rank_tolerance : largest error of the diagonal of a kernel matrix of low rank, relative to its largest
        element.
    substitutes, additions : for a kernel of low rank, which true columns a fit ends on beside those of its
        model: this many substitutes of each, and this many of the best additions.
    averaging_steps, averaging_tolerance : most steps to the Gaussian that probabilities of two classes are averaged
        over, and the relative change of a standard deviation of f at which they end.
    averaging_work : a model of S functions and N rows with N·S² above this is averaged over Laplace's Gaussian.
    """

    newton_steps: int = 100
    halvings: int = 40
    mode_tolerance: float = 1e-18
    rounding: float = 1e-12
    reached: float = 1e-5
    alternations: int = 60
    undamped: int = 4
    shorter: float = 0.9
    recovery: float = 1.25
    patience: int = 24
    hope: float = 20.0
    least_share: float = 1 / 16
    near: float = 0.1
    longest: float = 8.0
    climbs: int = 4
    rough: float = 1e-2
    fresh_gain: float = 0.1
    fresh_starts: int = 2
    exchange_gain: float = 0.1
    growth: float = 2.0
    small: int = 64
    batch: int = 8
    batch_share: float = 0.1
    independence: float = 0.6
    trials: int = 4
    trial_work: float = 4e7
    refits: int = 16
    low_rank_tolerance: float = 1e-7
    substitutes: int = 2
    additions: int = 32
    averaging_steps: int = 60
    averaging_tolerance: float = 1e-4
    averaging_work: float = 4e8


LAPLACE = LaplaceSettings()


@dataclass(frozen=True)
class NoiseSettings:
    """What the search for noise that is not Gaussian depends on.

    first_shape : the shape at which functions are selected for the first time if the shape is estimated.
    rows_per_weight : with fewer rows per weight the shape is not estimated: Laplace's evidence then overrates
        shapes other than the Gaussian one.
    turns, turn_gain : most alternations of noise and functions, and what one must gain for another, in nats.
    reach : largest change of log σ² in one search.
    flatness : a step of a search that gains less is its last, in nats.
    difference : in log σ² and p, for slopes by differences.
    at_floor : how near to its floor an estimated σ² counts as being there, relative.
    laplace : what the loop depends on.
    """

    first_shape: float = 4.0
    rows_per_weight: int = 10
    turns: int = 20
    turn_gain: float = 1e-3
    reach: float = 3.0
    flatness: float = 1e-6
    difference: float = 1e-5
    at_floor: float = 1e-3
    laplace: LaplaceSettings = LAPLACE


NOISE = NoiseSettings()


@dataclass(frozen=True)
class ProcessSettings:
    """What the Gaussian process behind the probabilities of two classes depends on.

    rows : with more rows it is not made.
    rank, tolerance : largest rank of K ≈ LLᵀ, and the largest error of its diagonal, relative to its mean.
    shares : variances s of f that are compared, in units of the mean diagonal of K, descending.
    indifferent, per_scale : nats by which the predictions of two shares may differ and count as equally good, and how
        many more for each further scale that was fitted to the labels.
    intercept_variance : prior variance of the intercept.
    slope_spread : standard deviation of the logarithm of the slope of the calibration.
    extra, least_extra, most_extra : functions beside those of the sparse model, per row, and within which limits.
    nats_per_row : distance from the mode of the process at which no more functions are needed.
    newton_steps, mode_tolerance, shortest : most steps to a mode, what the next must gain per row, in nats, and the
        shortest share of one.
    dependent : singular values of functions below this share of the largest count as zero.
    cover, cover_tolerance : most points that say where there are data, and the share of the variance of f that may
        be left unexplained between them.
    """

    rows: int = 3000
    rank: int = 300
    tolerance: float = 1e-6
    shares: tuple[float, ...] = (1e4, 3e3, 1e3, 3e2, 1e2, 3e1, 1e1, 3.0, 1.0, 0.3)
    indifferent: float = 1.5
    per_scale: float = 0.5
    intercept_variance: float = 25.0
    slope_spread: float = 1.5
    extra: float = 0.04
    least_extra: int = 8
    most_extra: int = 32
    nats_per_row: float = 2e-4
    newton_steps: int = 50
    mode_tolerance: float = 1e-12
    shortest: float = 1e-6
    dependent: float = 1e-10
    cover: int = 64
    cover_tolerance: float = 0.1


PROCESS = ProcessSettings()
