"""The search for scales: where it ends, what it depends on, and what it does with many rows."""

import numpy as np
import pytest

from sparsebayes.bases import RBF, Columns, MultiScale, Periodic
from sparsebayes.core.fit import fit_matrix
from sparsebayes.datasets import make_signal
from sparsebayes.laplace import Bernoulli
from sparsebayes.scale_learning import (
    GaussianEvidence,
    LaplaceEvidence,
    LeaveOneOutPredictions,
    ScaleSearchSettings,
    learn_scales,
)
from sparsebayes.scale_learning.evidence import spread_rows
from sparsebayes.scale_learning.leave_one_out import excess_variance
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.signals import DCT, Spike, Wavelet

FEW = ScaleSearchSettings(few_rows=40, rows=80, centres=60, judge_centres=90)


def evidence_of(y, noise_variance=None):
    return GaussianEvidence(y, np.ones(len(y)), True, noise_variance)


def ripple(seed, n, frequency=3.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.sin(frequency * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n)


def signal(name, n, snr, seed):
    _, y, f = make_signal(name, n, snr=snr, random_state=seed)
    return np.arange(float(n))[:, None], y, f


@pytest.mark.parametrize("seed", range(3))
def test_no_scale_that_matters_wants_to_move(seed):
    X, y = ripple(seed, 80)
    bound = RBF().bind(X).with_scale_per_input()
    learned = learn_scales(bound, X, evidence_of(y))
    process = GaussianProcess(bound, X, evidence_of(y))

    def height(log_scales):
        log_beta = -np.log(learned.noise_variance)
        return max(process(np.concatenate([log_scales, [s, log_beta]]))[0] for s in np.linspace(-3, 6, 40))

    best = height(learned.bound.log_scales)
    assert best == pytest.approx(learned.log_evidence, abs=0.1)
    for k in (0, 1):
        for step in (-0.7, 0.7):
            assert height(learned.bound.log_scales + step * np.eye(3)[k]) < best + 0.05


def test_the_result_is_the_process_at_theta():
    X, y = ripple(1, 60)
    learned = learn_scales((RBF() + Columns()).bind(X), X, evidence_of(y))
    assert learned.process(learned.theta)[0] == pytest.approx(learned.log_evidence)
    np.testing.assert_allclose(learned.bound.log_scales, learned.theta[:3], rtol=1e-12)
    assert learned.noise_variance == pytest.approx(np.exp(-learned.theta[-1]))
    assert learned.first_noise_variance == pytest.approx(0.5 * learned.noise_variance)
    assert learned.most is learned.process
    np.testing.assert_array_equal(learned.rows, np.arange(60))
    assert learned.process.all_parts
    settings = ScaleSearchSettings(sparse_noise=0.2)
    again = learn_scales((RBF() + Columns()).bind(X), X, evidence_of(y), settings)
    assert again.first_noise_variance == pytest.approx(0.2 * learned.noise_variance)


def test_the_order_of_rows_and_inputs_does_not_matter():
    X, y = ripple(4, 90)
    rows, inputs = np.random.default_rng(0).permutation(90), [2, 0, 1]
    one, other = (
        np.exp(learn_scales(RBF().bind(A).with_scale_per_input(), A, evidence_of(t)).bound.log_scales)
        for A, t in ((X, y), (X[rows][:, inputs], y[rows]))
    )
    np.testing.assert_allclose(other, one[inputs], rtol=0.02)


def test_an_input_that_is_not_worth_its_scale_is_as_wide_as_can_be():
    X, y = ripple(5, 80)
    bound = RBF().bind(X).with_scale_per_input()
    learned = learn_scales(bound, X, evidence_of(y))
    widest = bound.log_scale_bounds(X, ScaleSearchSettings().widest)[2, 0]
    assert learned.bound.log_scales[2] == pytest.approx(widest)
    assert np.all(learned.bound.log_scales[:2] > bound.log_scale_bounds(X, 100.0)[:2, 0])


def test_noise_is_not_modelled_by_functions_as_narrow_as_rows_are_apart():
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((150, 5)), rng.standard_normal(150)
    settings = ScaleSearchSettings()
    learned = learn_scales(RBF().bind(X), X, evidence_of(noise), settings, tied=True)
    assert learned.noise_variance == pytest.approx(noise.var())
    assert learned.theta[5] == pytest.approx(settings.share_range[0] + np.log(noise.var()))


def test_many_rows_show_what_few_cannot():
    """A ripple of which few rows see six a period."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 1))
    y = np.sin(20 * X[:, 0]) + 0.1 * rng.standard_normal(400)
    bound = RBF().bind(X)
    settings = ScaleSearchSettings(few_rows=20, rows=40, centres=60, judge_centres=100)

    class FewRows(GaussianEvidence):
        """Exact covariances only."""

        low_rank = False

    few, many = (learn_scales(bound, X, kind(y, np.ones(400), True), settings) for kind in (FewRows, GaussianEvidence))
    assert many.noise_variance == pytest.approx(0.01, rel=0.1)
    assert abs(np.log(many.noise_variance / 0.01)) < abs(np.log(few.noise_variance / 0.01))
    assert few.most is few.process
    assert len(few.rows) == 40
    assert many.most is not many.process
    assert len(many.rows) == 400


@pytest.mark.parametrize("per_input", [False, True])
def test_a_kernel_at_several_widths_learns_the_scales_its_parts_share(per_input):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    y = np.sin(4 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(200)
    bound = MultiScale(RBF(), widths=(2.0, 0.5)).bind(X)
    bound = bound.with_scale_per_input() if per_input else bound
    settings = ScaleSearchSettings(few_rows=40, rows=80, centres=30, judge_centres=80)
    learned = learn_scales(bound, X, evidence_of(y), settings, tied=not per_input)
    assert learned.bound.log_scales.shape == (2,)
    assert learned.noise_variance == pytest.approx(0.01, rel=0.5)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_learn_which_inputs_matter(classes):
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((150, 4))
    radius = np.hypot(X[:, 0], X[:, 1]) + 0.1 * rng.standard_normal(150)
    y = np.digitize(radius, [1.2] if classes == 2 else [0.9, 1.6])
    codes = np.eye(classes)[y][:, 1 if classes == 2 else 0 :]
    bound = RBF().bind(X).with_scale_per_input()
    learned = learn_scales(bound, X, LaplaceEvidence(codes, np.ones(150), True, Bernoulli()))
    assert learned.bound.log_scales[:2].min() > learned.bound.log_scales[2:].max() + np.log(10)
    assert np.isnan(learned.noise_variance)
    assert learned.first_noise_variance is None
    assert not len(learned.irrelevant)


def test_a_noise_that_is_known_is_no_guess():
    X, y = ripple(2, 60)
    learned = learn_scales(RBF().bind(X), X, evidence_of(y, 0.01))
    assert learned.first_noise_variance is None
    assert learned.theta.shape == (4,)  # three inputs and a share


def test_what_is_no_width_starts_from_what_it_is():
    x = np.linspace(0, 6, 120)[:, None]
    rng = np.random.default_rng(0)
    y = np.sign(np.sin(2 * np.pi * x[:, 0])) + 0.1 * rng.standard_normal(120)
    learned = learn_scales((Periodic(period=1.05, period_bounds=None) + Columns()).bind(x), x, evidence_of(y))
    assert learned.bound.scale_names == ("part0__period", "part0__width")
    assert np.exp(learned.bound.log_scales[0]) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("level", [0.1, 0.3, 1.7, 1e6])
def test_a_constant_column_does_not_matter_whatever_rounding_leaves_of_it(level):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (100, 2))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(100)
    one, other = (
        learn_scales((RBF() + Columns()).bind(A), A, evidence_of(y))
        for A in (np.column_stack([X, c]) for c in (np.zeros(100), np.full(100, level)))
    )
    np.testing.assert_allclose(np.exp(other.bound.log_scales), np.exp(one.bound.log_scales), rtol=0.02)
    assert other.noise_variance == pytest.approx(one.noise_variance, rel=0.02)


@pytest.mark.parametrize("sampled", [Wavelet("haar"), Wavelet("sym8"), DCT(), Spike()])
@pytest.mark.parametrize("kind", ["noise estimated", "noise known", "classes", "many rows"])
def test_scales_are_those_the_kernel_learns_without_samples(sampled, kind):
    X, y, _ = signal("sinc", 100, 7.0, 0)
    evidence = evidence_of(y, 0.01 if kind == "noise known" else None)
    if kind == "classes":
        evidence = LaplaceEvidence((y > 0.1).astype(float)[:, None], np.ones(100), True, Bernoulli())
    settings = FEW if kind == "many rows" else ScaleSearchSettings()
    alone = learn_scales(RBF().bind(X), X, evidence, settings)
    for basis in (sampled + RBF(), RBF() + sampled):
        learned = learn_scales(basis.bind(X), X, evidence, settings)
        np.testing.assert_array_equal(learned.bound.log_scales, alone.bound.log_scales)
        assert learned.bound.n_functions == 200
        assert not learned.process.all_parts
        assert learned.first_noise_variance is None
        assert not len(learned.irrelevant)


def test_the_excess_variance_is_that_of_a_process_with_all_rows_and_parts():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (60, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(60)
    learned = learn_scales(RBF().bind(X).with_scale_per_input(), X, evidence_of(y))
    Phi = learned.bound(X)
    result = fit_matrix(Phi, y, fit_intercept=True)
    columns = Phi[:, result.active]
    expected = excess_variance(
        LeaveOneOutPredictions.of_process(learned.process, learned.theta),
        LeaveOneOutPredictions.of_result(result, columns, y, None),
        None,
    )
    assert learned.excess_variance(result, columns, y, None) == pytest.approx(expected, rel=1e-9)
    assert expected > 0
    settings = ScaleSearchSettings(rows=50, centres=20)
    fewer = learn_scales(RBF().bind(X).with_scale_per_input(), X, evidence_of(y), settings)
    assert fewer.excess_variance(result, columns, y, None) == pytest.approx(expected, rel=0.5)
    beside = learn_scales((RBF() + Spike()).bind(X), X, evidence_of(y))
    assert beside.excess_variance(result, columns, y, None) == 0


def test_rows_are_spread_over_the_targets():
    order = np.random.default_rng(0).permutation(100)
    rows = spread_rows(order, 10)
    assert len(np.unique(rows)) == 10
    np.testing.assert_array_equal(np.sort(order[rows]), np.round(np.linspace(0, 99, 10)))
    np.testing.assert_array_equal(spread_rows(order, 100), np.arange(100))
