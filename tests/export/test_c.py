"""Models as C predict as they do in Python, and compile without a warning."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from export_examples import EXPORTABLE, classifiers, example_of, regressors

from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor
from sparsebayes.export import export_c
from sparsebayes.export.c_file import source_of
from sparsebayes.export.c_tables import Tables, comment, identifier, quoted

COMPILER = shutil.which("gcc") or shutil.which("cc")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"]
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def compiled(source, folder, *more):
    """The library, or with -DNAME_MAIN the program, of a source."""
    path = folder / "model.c"
    path.write_text(source, encoding="utf-8")
    target = folder / "model.so"
    kind = ["-shared", "-fPIC"] if not more else []
    done = subprocess.run([COMPILER, *FLAGS, *kind, *more, str(path), "-o", str(target), "-lm"], capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert not done.returncode, done.stderr
    return target


def library(source, folder):
    return ctypes.CDLL(str(compiled(source, folder)))


def called(function, X, *shapes, real=np.float64):
    """What a C function makes of each row of X: one array for each of its outputs, and what it returns."""
    outputs = [np.full((len(X), n), np.nan, dtype=real) for n in shapes]
    X, function.restype = np.ascontiguousarray(X, dtype=real), ctypes.c_int
    pointer = lambda row: row.ctypes.data_as(ctypes.c_void_p)  # noqa: E731
    numbers = [function(pointer(x), *(pointer(each[n]) for each in outputs)) for n, x in enumerate(X)]
    return outputs, np.asarray(numbers)


@pytest.fixture(scope="module")
def every_kernel(tmp_path_factory):
    """All kernels with a formula in one library, in both kinds of numbers."""
    examples = [example_of(basis, 3) for basis in EXPORTABLE]
    programs = [
        source_of(each.description, Tables(f"{kind}{k}", dtype), [])
        for k, each in enumerate(examples)
        for kind, dtype in (("double", np.float64), ("float", np.float32))
    ]
    return examples, library("\n".join(programs), tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("k", range(len(EXPORTABLE)), ids=[repr(basis) for basis in EXPORTABLE])
def test_every_kernel_with_a_formula_near_far_and_at_training_points(k, every_kernel):
    examples, program = every_kernel
    each = examples[k]
    (mean, std), _ = called(program[f"double{k}_predict"], each.queries, 2, 2)
    np.testing.assert_allclose(mean, each.mean, rtol=1e-9)
    np.testing.assert_allclose(std, each.std, rtol=1e-9)
    near = slice(20)
    (mean, std), _ = called(program[f"float{k}_predict"], each.queries[near], 2, 2, real=np.float32)
    np.testing.assert_allclose(mean, each.mean[near], rtol=1e-3, atol=1e-4 * np.abs(each.mean[near]).max())
    np.testing.assert_allclose(std, each.std[near], rtol=1e-3, atol=1e-3 * each.std[near].max())


@pytest.fixture(scope="module")
def every_model(tmp_path_factory):
    """All fitted models in one library."""
    folder, names = tmp_path_factory.mktemp("models"), {}
    models, programs = regressors() | classifiers(), []
    for k, (name, (model, _)) in enumerate(models.items()):
        names[name] = f"m{k}"
        export_c(model, folder / "one.c", names[name], verbose=False)
        programs.append((folder / "one.c").read_text(encoding="utf-8"))
    return names, library("\n".join(programs), folder)


@pytest.mark.parametrize("name", sorted(regressors()))
def test_mean_and_std_of_regressors(name, every_model):
    (model, X), (names, program) = regressors()[name], every_model
    expected = [each.reshape(len(X), -1) for each in model.predict(X, return_std=True)]
    T = expected[0].shape[1]
    (mean, std), _ = called(program[f"{names[name]}_predict"], X, T, T)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-9)
    np.testing.assert_allclose(std, expected[1], rtol=1e-9)


@pytest.mark.parametrize("name", sorted(classifiers()))
def test_probabilities_and_labels_of_classifiers(name, every_model):
    (model, X), (names, program) = classifiers()[name], every_model
    (p,), best = called(program[f"{names[name]}_predict_proba"], X, len(model.classes_))
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(model.classes_[best], model.predict(X))
    labels = (ctypes.c_char_p * len(model.classes_)).in_dll(program, f"{names[name]}_classes")
    assert [each.decode() for each in labels] == [str(each) for each in model.classes_]


@pytest.mark.parametrize("k", range(len(EXPORTABLE)), ids=[repr(basis) for basis in EXPORTABLE])
def test_missing_inputs_give_no_number(k, every_kernel):
    """A sensor that fails must not be predicted from: fmax and fmin of math.h would forget its NaN."""
    examples, program = every_kernel
    X = np.full((1, examples[k].queries.shape[1]), np.nan)
    (mean, std), _ = called(program[f"double{k}_predict"], X, 2, 2)
    constant = np.ptp(examples[k].mean, axis=0).max() < 1e-12
    assert np.isnan([mean, std]).all() == (not constant)


@pytest.mark.parametrize("name", sorted(classifiers()))
def test_missing_inputs_give_no_probability(name, every_model):
    (model, X), (names, program) = classifiers()[name], every_model
    (p,), best = called(program[f"{names[name]}_predict_proba"], np.full_like(X[:1], np.nan), len(model.classes_))
    assert np.isnan(p).all()
    assert 0 <= best[0] < len(model.classes_)


def test_the_standard_deviation_may_be_left_away(every_model):
    (model, X), (names, program) = regressors()["kernel"], every_model
    function, mean = program[f"{names['kernel']}_predict"], np.empty(1)
    pointer = X[:1].copy().ctypes.data_as(ctypes.c_void_p)
    function(pointer, mean.ctypes.data_as(ctypes.c_void_p), None)
    np.testing.assert_allclose(mean, model.predict(X[:1]), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_as_a_program_it_reads_rows_and_prints_predictions(dtype, tmp_path):
    model, X = regressors()["outputs"]
    export_c(model, tmp_path / "own.c", "own", dtype=dtype, verbose=False)
    program = compiled((tmp_path / "own.c").read_text(encoding="utf-8"), tmp_path, "-DOWN_MAIN")
    rows = "\n".join(" ".join(map(repr, row)) for row in X.tolist())
    done = subprocess.run([program], input=rows, capture_output=True, text=True, check=True)
    found = np.asarray([line.split() for line in done.stdout.splitlines()], dtype=float)
    expected, tolerance = model.predict(X, return_std=True), 1e-9 if dtype == "double" else 1e-4
    np.testing.assert_allclose(found, np.hstack(expected), rtol=tolerance, atol=tolerance)
    torn = subprocess.run([program], input="1.0", capture_output=True, text=True, check=False)
    assert torn.returncode == 1


def test_a_classifier_as_a_program_prints_labels(tmp_path):
    model, X = classifiers()["two, learned"]
    export_c(model, tmp_path / "own.c", dtype="float", verbose=False)
    program = compiled((tmp_path / "own.c").read_text(encoding="utf-8"), tmp_path, "-DMODEL_MAIN")
    rows = "\n".join(" ".join(map(repr, row)) for row in X.tolist())
    done = subprocess.run([program], input=rows.encode(), capture_output=True, check=True)
    text = done.stdout.decode()
    assert re.findall(r'out ü|in "quotes"', text) == [label.strip() for label in model.predict(X)]


def test_the_standard_deviation_of_a_gaussian_process_is_not_exported(tmp_path):
    x = np.linspace(0, 6, 30)[:, None]
    model = RelevanceVectorRegressor(gamma="evidence", variance="gp").fit(x, np.sin(x[:, 0]))
    export_c(model, tmp_path / "model.c", verbose=False)
    assert "void model_predict(const double x[1], double mean[1]);" in (tmp_path / "model.c").read_text()
    with pytest.raises(ValueError, match="std must be False with variance='gp'"):
        export_c(model, tmp_path / "model.c", std=True)


def test_text_of_any_kind_compiles(tmp_path):
    """Labels, names of inputs and of the model can neither end a comment nor a string."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(40, 2)), columns=["a */ b ??/\\", "/* c\\\n*/ #error"])
    labels = np.where(X.iloc[:, 0] > 0, '"); exit(1); // ??/\\', "\n\t%s é")
    model = RelevanceVectorClassifier(gamma=0.5).fit(X, labels)
    export_c(model, tmp_path / "one.c", "3 int main()", X.to_numpy(), verbose=False)
    program = library((tmp_path / "one.c").read_text(encoding="utf-8"), tmp_path)
    found = (ctypes.c_char_p * 2).in_dll(program, "model3_int_main___classes")
    assert [each.decode() for each in found] == model.classes_.tolist()


def test_names_become_identifiers():
    assert identifier("pump-3 ü") == "pump_3__"
    assert identifier("3d") == "model3d"
    for wrong in ("", None, 3):
        with pytest.raises(ValueError, match="name must be a text such as 'model'"):
            identifier(wrong)
    assert quoted('a"?') == '"a\\042\\077"'
    assert comment(["x */ y"]) == ["/*", " * x * / y", " */"]


def test_numbers_beyond_single_precision_are_refused(tmp_path):
    X = np.linspace(0, 1e60, 30)[:, None]
    model = RelevanceVectorRegressor(gamma="scale").fit(X, np.sin(X[:, 0] / 1e59))
    with pytest.raises(ValueError, match="dtype must be 'double'"):
        export_c(model, tmp_path / "model.c", dtype="float")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [0.0, 2.5])
def test_the_report_of_constant_targets(value, tmp_path):
    """Their standard deviation is 0, and so is its error."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(UserWarning, match="y"):
        model = RelevanceVectorRegressor().fit(X, np.full(40, value))
    found = export_c(model, tmp_path / "model.c", verbose=False)
    assert (found.error, found.std_error) == (0.0, 0.0)
