import display_models as models
import numpy as np
import pytest

from sparsebayes import RelevanceVectorRegressor, WaveletDenoiser
from sparsebayes.datasets import make_friedman
from sparsebayes.inspection import EvidenceDisplay


@pytest.mark.parametrize(
    "make",
    [lambda kind=kind: models.regressor(kind) for kind in models.REGRESSORS]
    + [lambda kind=kind: models.classifier(kind) for kind in models.CLASSIFIERS],
)
def test_the_last_move_ends_at_the_evidence(make):
    model = make()
    display, last = EvidenceDisplay.from_estimator(model), getattr(model, "steps", [[0, model]])[-1][1]
    gains = [move.gain for move in last.trace_]
    np.testing.assert_allclose(np.diff(display.evidence), gains[1:], atol=1e-9)
    assert display.evidence[-1] == pytest.approx(last.evidence_path_[-1])
    np.testing.assert_array_equal(display.path, last.evidence_path_)
    np.testing.assert_array_equal(display.functions, [move.n_active for move in last.trace_])
    assert [kind.split()[0] for kind in display.kinds] == [move.name.split()[0] for move in last.trace_]


def test_every_move_is_a_point_of_its_kind():
    X, y, _ = make_friedman(1, n=80, random_state=0)
    model = RelevanceVectorRegressor(gamma=0.3).fit(X, y)
    display = EvidenceDisplay.from_estimator(model)
    assert len(display.points_) > 2
    for kind, points in display.points_.items():
        mine = np.flatnonzero(display.kinds == kind)
        np.testing.assert_allclose(points.get_offsets(), np.c_[mine, display.evidence[mine]])
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == [f"{kind} ({(display.kinds == kind).sum()})" for kind in display.points_]


def test_against_seconds_and_iterations():
    model = models.regressor("kernel")
    display = EvidenceDisplay.from_estimator(model, against="seconds")
    np.testing.assert_array_equal(display.line_.get_xdata(), np.cumsum([move.seconds for move in model.trace_]))
    display.plot(against="iterations")
    np.testing.assert_array_equal(display.line_.get_ydata(), model.evidence_path_)
    assert display.points_ == {}
    assert display.ax_.get_legend() is None
    low, high = display.ax_.get_ylim()
    assert high - low >= 1 - 1e-9


def test_outputs_with_models_of_their_own_and_atoms():
    model = models.joint_regressor("columns", joint=False)
    for output in range(2):
        own = EvidenceDisplay.from_estimator(model, output=output)
        np.testing.assert_array_equal(own.path, model.estimators_[output].evidence_path_)
    with pytest.raises(ValueError, match="output must be a number from 0 to 1"):
        EvidenceDisplay.from_estimator(model)
    joint = models.joint_regressor("columns")
    np.testing.assert_array_equal(EvidenceDisplay.from_estimator(joint).path, joint.evidence_path_)
    recovery = models.recovery()
    assert EvidenceDisplay.from_estimator(recovery).evidence[-1] == pytest.approx(
        recovery._fitted.result.evidence_path[-1]
    )
    apart = models.recovery(2, joint=False)
    assert len(EvidenceDisplay.from_estimator(apart, output=1).path) > 1


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="needs a model with trace_ and evidence_path_, got WaveletDenoiser"):
        EvidenceDisplay.from_estimator(WaveletDenoiser().fit(np.arange(64.0)))
    with pytest.raises(ValueError, match=r"against must be one of .*'seconds'.*, got 'time'"):
        EvidenceDisplay.from_estimator(models.regressor("columns"), against="time")
