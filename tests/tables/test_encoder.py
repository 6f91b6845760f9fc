"""Tables as numbers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sparsebayes.tables import MissingValueWarning, TableEncoder

pd = pytest.importorskip("pandas")
TIMES = ["1970-01-02 00:00", "1970-01-03 12:00"]


def table(**columns):
    return pd.DataFrame(columns)


def encoded(frame, **parameters):
    """The encoded table by name."""
    encoder = TableEncoder(**parameters)
    values = encoder.fit_transform(frame)
    return {name: values[:, k].tolist() for k, name in enumerate(encoder.get_feature_names_out())}


def test_numbers_stay_and_truth_values_are_zero_and_one():
    assert encoded(table(a=[1.5, 2.0, -3.0], b=[True, False, True])) == {"a": [1.5, 2.0, -3.0], "b": [1.0, 0.0, 1.0]}


def test_missing_numbers_become_the_median_and_have_a_column_of_their_own():
    assert encoded(table(a=[1.0, None, 5.0, 9.0])) == {"a": [1.0, 5.0, 5.0, 9.0], "a is missing": [0.0, 1.0, 0.0, 0.0]}


def test_a_number_missing_in_a_query_alone_becomes_the_median_of_the_training_rows():
    encoder = TableEncoder().fit(table(a=[1.0, 2.0, 6.0]))
    with pytest.warns(UserWarning, match="has no value"):
        assert_array_equal(encoder.transform(table(a=[None, 3.0])), [[2.0], [3.0]])


def test_categories_have_a_column_each_the_most_frequent_first():
    assert encoded(table(a=["x", "y", "y", "z"])) == {
        "a=y": [0.0, 1.0, 1.0, 0.0],
        "a=x": [1.0, 0.0, 0.0, 0.0],
        "a=z": [0.0, 0.0, 0.0, 1.0],
    }


def test_two_categories_have_one_column_and_missing_text_is_a_category():
    assert list(encoded(table(a=["x", "y", "y"]))) == ["a=y"]
    assert list(encoded(table(a=["x", None, "x"]))) == ["a=x", "a=(missing)"]


def test_rare_categories_are_one():
    found = encoded(table(a=["x"] * 3 + ["y"] * 2 + ["p", "q"]), max_categories=2)
    assert list(found) == ["a=x", "a=y", "a=(other)"]
    assert found["a=(other)"] == [0.0] * 5 + [1.0] * 2


def test_unknown_text_is_other_or_nothing():
    few = TableEncoder().fit(table(a=["x", "y", "z"]))
    with pytest.warns(UserWarning, match="text that was not in the fit"):
        assert_array_equal(few.transform(table(a=["new"])), [[0.0, 0.0, 0.0]])
    rare = TableEncoder(max_categories=1).fit(table(a=["x", "x", "x", "y", "z"]))
    assert_array_equal(rare.transform(table(a=["new"])), [[0.0, 1.0]])


@pytest.mark.parametrize("values", [["1970-01-02", "1970-01-03T12:00:00"], pd.to_datetime(TIMES)])
def test_dates_are_days(values):
    assert encoded(table(a=values)) == {"a": [1.0, 2.5]}


def test_constants_and_identifiers_are_left_away_with_a_warning():
    rng = np.random.default_rng(0)
    frame = table(a=[1.0] * 50, name=[f"n{k}" for k in range(50)], empty=[None] * 50, x=rng.standard_normal(50))
    with pytest.warns(UserWarning, match="is dropped") as said:
        encoder = TableEncoder().fit(frame)
    assert encoder.unused_ == ("a", "name", "empty")
    assert [str(each.message).split("'")[1] for each in said] == ["a", "name", "empty"]
    assert encoder.get_feature_names_out().tolist() == ["x"]


def test_columns_may_come_in_any_order_and_others_are_ignored():
    encoder = TableEncoder(target="y").fit(table(a=[1.0, 2.0], b=["u", "v"], y=[0.0, 1.0]))
    assert_array_equal(encoder.transform(table(z=[9.0], b=["u"], a=[7.0])), [[7.0, 1.0]])


def test_target_and_dropped_columns_are_no_inputs():
    assert list(encoded(table(a=[1.0, 2.0], b=[1.0, 2.0], y=[1.0, 2.0]), target="y", drop=("b",))) == ["a"]


def test_the_target_is_needed_in_the_fit_alone():
    encoder = TableEncoder(target="y").fit(table(a=[1.0, 2.0], y=[0.0, 1.0]))
    assert_array_equal(encoder.transform(table(a=[7.0])), [[7.0]])


@pytest.mark.parametrize(
    ("values", "y"),
    [
        ([1.0, 2.5, 4.0], np.array([1.0, 2.5, 4.0])),
        ([1, 2, 4], [1.0, 2.0, 4.0]),
        ([True, False, True], pd.Series([True, False, True])),
        (["u", "v", "u"], np.array(["u", "v", "u"])),
    ],
)
@pytest.mark.parametrize("fit", ["fit", "fit_transform"])
def test_an_input_that_equals_the_targets_is_warned_of(values, y, fit):
    frame = table(a=[3.0, 1.0, 2.0], day=pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-05"]), b=values)
    with pytest.warns(UserWarning, match=r"column 'b' equals y, and is an input: .* TableEncoder\(target='b'\)"):
        getattr(TableEncoder(), fit)(frame, y)
    getattr(TableEncoder(target="b"), fit)(frame, y)
    getattr(TableEncoder(), fit)(frame, y[::-1] if y[0] != y[2] else [0.0, 1.0, 7.0])


def test_clone_has_the_same_parameters():
    encoder = TableEncoder("y", ("a",), 3)
    assert clone(encoder).get_params() == encoder.get_params()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"a": ["text"], "b": ["u"]}, "column 'a' must hold numbers.*'text' in data row 1"),
        ({"a": [np.inf], "b": ["u"]}, "column 'a' must be finite"),
        ({"b": ["u"]}, "must have a column 'a'"),
        ({"a": [1.0], "b": ["u"], "day": ["tomorrow"]}, "column 'day' must hold dates"),
    ],
)
def test_queries_that_do_not_fit_are_refused(query, sentence):
    encoder = TableEncoder().fit(table(a=[1.0, 2.0], b=["u", "v"], day=["2024-01-01", "2024-01-02"]))
    with pytest.raises(ValueError, match=sentence):
        encoder.transform(pd.DataFrame({"day": ["2024-01-01"]} | query))


@pytest.mark.parametrize(
    ("frame", "parameters", "error", "sentence"),
    [
        (np.ones((2, 2)), {}, TypeError, "pandas DataFrame, got ndarray"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, ValueError, "different names, got 'a' twice"),
        (pd.DataFrame([[1, 2], [3, 4]]), {}, ValueError, "names that are text, got 0"),
        (pd.DataFrame({"a": []}), {}, ValueError, "at least one row"),
        (pd.DataFrame({"y": [1.0, 2.0]}), {"target": "y"}, ValueError, "a column to predict from, beside .* 'y'"),
        (pd.DataFrame({"a": [1.0, 2.0]}), {"drop": ("b",)}, ValueError, "drop must name columns of the table, got 'b'"),
        (
            pd.DataFrame({"a": [1.0, 2.0], "price": [1.0, 3.0]}),
            {"target": "Price"},
            ValueError,
            "target must be a column of the table, got 'Price'; it has 'a', 'price'",
        ),
        (pd.DataFrame({"a": [1.0, 2.0]}), {"max_categories": 0}, ValueError, "max_categories must be an integer >= 1"),
    ],
)
def test_tables_that_cannot_be_encoded_are_refused(frame, parameters, error, sentence):
    with pytest.raises(error, match=sentence):
        TableEncoder(**parameters).fit(frame)


def test_transform_needs_a_fit():
    with pytest.raises(NotFittedError):
        TableEncoder().transform(table(a=[1.0]))


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [1.0, np.nan, 3.0, 4.0], "a is missing": [0.0, 1.0, 2.0, 3.0]},
        {"a": ["u", "v", "w", "u"], "a=u": [0.0, 1.0, 2.0, 3.0]},
    ],
)
def test_two_columns_with_the_same_encoded_name_are_refused(columns):
    first, second = columns
    with pytest.raises(ValueError, match=f"the columns '{first}' and '{second}' of the table would both give a column"):
        TableEncoder().fit(pd.DataFrame(columns))


def test_text_that_says_other_counts_as_the_rest():
    frame = pd.DataFrame({"a": ["(other)"] * 4 + ["u"] * 3 + ["v"] * 2 + ["w"]})
    encoder = TableEncoder(max_categories=2)
    X = encoder.fit_transform(frame)
    assert encoder.get_feature_names_out().tolist() == ["a=u", "a=v", "a=(other)"]
    np.testing.assert_array_equal(X.sum(axis=0), [3, 2, 5])


def test_a_few_values_that_are_no_numbers_count_as_missing_with_a_warning():
    values = ["1", "n/a?", "3", "4", "5", "6"]
    with pytest.warns(UserWarning, match=r"'a' has 1 value\(s\) that are no numbers, such as 'n/a\?' in data row 2"):
        found = encoded(table(a=values))
    assert found == {"a": [1.0, 4.0, 3.0, 4.0, 5.0, 6.0], "a is missing": [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]}


def test_gaps_are_warned_of_in_queries_even_if_the_fit_had_them():
    frame = table(a=[1.0, None, 5.0, 9.0], day=["2024-01-01", "2024-01-02", None, "2024-01-05"])
    encoder = TableEncoder()
    fitted = encoder.fit_transform(frame)
    with pytest.warns(MissingValueWarning) as said:
        assert_array_equal(encoder.transform(frame), fitted)
    ends = [str(each.message).partition(" takes its place, ")[2] for each in said]
    assert ends == ["and the error bars do not know of it."] * 2
    assert str(said[0].message).startswith("column 'a' has no value in 1 of 4 rows: the median 5")


def test_queries_with_gaps_or_new_text_are_warned_of():
    encoder = TableEncoder().fit(table(a=[1.0, 2.0, 6.0], b=["u", "v", "w"], c=["p", "q", "q"]))
    with pytest.warns(UserWarning, match="'a' has no value in 1 of 2 rows.*the median 2 takes its place"):
        encoder.transform(table(a=[1.0, None], b=["u", "v"], c=["p", "q"]))
    with pytest.warns(UserWarning, match="'b' has text that was not in the fit in 2 of 2 rows, such as 'x'"):
        encoder.transform(table(a=[1.0, 2.0], b=["x", "y"], c=["p", "q"]))
    with pytest.warns(UserWarning, match="'c' has text that was not in the fit in 1 of 2 rows, such as 'r'"):
        encoder.transform(table(a=[1.0, 2.0], b=["u", "v"], c=["p", "r"]))


@pytest.mark.parametrize("form", ["${:,}.50", "{:,} €", "{}.5 %", "{}.05.2024", "5/{}/2024", "{:,}\u202f€"])
def test_numbers_in_the_form_of_a_spreadsheet_are_named_in_a_warning(form):
    values = [form.format(1001 + k) for k in range(30)]
    frame = pd.DataFrame({"x": np.arange(30.0) ** 2, "text": values})
    with pytest.warns(UserWarning, match="column 'text' is dropped: values such as .* are read as text; write numbers"):
        TableEncoder().fit(frame)
    with pytest.warns(UserWarning, match="column 'text' counts as categories: values such as"):
        TableEncoder(max_categories=40).fit(frame)


def test_a_column_that_numbers_the_rows_is_warned_of():
    x = np.random.default_rng(0).standard_normal(30)
    with pytest.warns(UserWarning, match=r"column 'id' numbers the rows and is an input.*--drop id\.$"):
        encoder = TableEncoder().fit(table(id=np.random.default_rng(1).permutation(30) + 7, x=x))
    assert [column.name for column in encoder.columns_] == ["id", "x"]
    for values in (np.arange(30) * 2, np.arange(30) + 0.5, np.minimum(np.arange(30), 28)):
        TableEncoder().fit(table(count=values, x=x))
    TableEncoder().fit(table(time=np.arange(30)))  # the one input


@pytest.mark.parametrize("large", ["1.500.000", "1,500,000.5", "1 500", "1'500"])
def test_thousands_separators_are_no_missing_values(large):
    frame = pd.DataFrame({"x": [*map(str, range(900, 930)), large]})
    with pytest.raises(ValueError, match=r"'x' must hold numbers without thousands separators, got .* in data row 31"):
        TableEncoder().fit(frame)


def test_dates_far_away_are_days_too():
    frame = pd.DataFrame({"until": ["1000-01-01", "2024-05-31", "9999-12-31"]})
    days = TableEncoder().fit_transform(frame)[:, 0]
    assert days.tolist() == [-354285.0, 19874.0, 2932896.0]


def test_numbers_where_there_were_dates_are_refused_without_more_ado():
    encoder = TableEncoder().fit(pd.DataFrame({"day": ["2024-01-01", "2024-01-02"]}))
    with pytest.raises(ValueError, match="'day' must hold dates such as 2024-05-31"):
        encoder.transform(pd.DataFrame({"day": [1e308, 0.5]}))


def test_dates_may_be_whole_numbers_in_the_queries():
    encoder = TableEncoder().fit(pd.DataFrame({"day": ["2024-01-01", "2024-05-31"]}))
    assert encoder.transform(pd.DataFrame({"day": [20240531, 20240101]}))[:, 0].tolist() == [19874.0, 19723.0]
    assert encoder.transform(pd.DataFrame({"day": [20240531.0]}))[0, 0] == 19874.0
