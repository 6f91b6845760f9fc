"""Numbers and names in tables: rounded where their errors say, aligned, and escaped whatever they are."""

import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsebayes import Summary
from sparsebayes.summaries import Column
from sparsebayes.summaries.formulas import Term, is_variable, short, style_of
from sparsebayes.summaries.latex import escaped
from sparsebayes.summaries.numbers import aligned, alike, nats, rounded, share, significant
from sparsebayes.summaries.text import printable, width

sizes = st.floats(1e-200, 1e200)
signed = st.builds(lambda size, sign: size * sign, sizes, st.sampled_from([-1.0, 1.0]))
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(signed, st.integers(1, 8))
def test_significant_digits(value, digits):
    text = significant(value, digits)
    assert float(text) == pytest.approx(value, rel=5.0001 * 10.0**-digits)
    assert len(text) <= digits + 8


@given(signed, sizes)
def test_a_number_is_rounded_by_its_error(value, error):
    text = rounded(value, error)
    assert abs(float(text) - value) <= 0.00501 * error + 1e-12 * abs(value)
    assert len(text) < 22


@given(sizes)
def test_a_standard_deviation_has_three_digits(error):
    assert float(rounded(error, error)) == pytest.approx(error, rel=5.001e-3)


@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1e5)), min_size=1, max_size=5))
def test_numbers_of_a_column_have_the_same_decimals(values):
    texts = alike(values)
    assert len({len(text.partition(".")[2]) for text in texts}) == 1
    np.testing.assert_allclose([float(text) for text in texts], values, rtol=5.1e-4)


def test_numbers_that_are_missing_or_small_in_a_column():
    assert alike([3.55, 4.315, np.nan]) == ["3.550", "4.315", "—"]
    assert alike([1e-7, 2.0]) == ["1.000e-07", "2.000"]
    assert alike([0.0]) == ["0"]


@pytest.mark.parametrize("write", [significant, nats, share, lambda value: rounded(value, 1.0)])
def test_numbers_that_are_none(write):
    assert write(np.nan) == "—"
    assert write(np.inf) == "inf"
    assert write(-np.inf) == "-inf"
    assert not write(-1e-12).startswith("-0.0")
    assert float(write(0.0)) == 0


@given(st.lists(st.one_of(signed, st.floats(-1e5, 1e5)), min_size=1, max_size=6))
def test_decimal_points_are_below_one_another(values):
    texts = aligned([significant(value) for value in values])
    assert len({len(text) for text in texts}) == 1
    points = {text.index(".") for text in texts if "." in text}
    assert len(points) <= 1
    assert [float(text) for text in texts] == [float(significant(value)) for value in values]


def _summary(terms, values):
    columns = (Column("term", "term", terms), Column("weight", "weight", values, significant))
    return Summary(terms[0], ((terms[-1], terms[0]),), columns, (terms[-1],), np.arange(len(terms)))


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.texts = []
        self.tags = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


@given(st.lists(names, min_size=1, max_size=4))
def test_any_name_in_html(terms):
    page = _Text()
    text = _summary(terms, np.ones(len(terms))).to_html()
    page.feed(text)
    page.close()
    assert page.tags == {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert {printable(term) for term in terms} <= set(page.texts)
    assert html.escape(printable(terms[0])) in text


@given(st.lists(names, min_size=1, max_size=4))
def test_any_name_in_text(terms):
    """A table has a line for each row, and all of them are as wide as its rules."""
    lines = str(_summary(terms, np.full(len(terms), 0.5))).split("\n")
    assert len(lines) == len(terms) + 7
    assert [width(line) for line in lines[5:-2]] == [width(lines[2])] * len(terms)


@given(names)
def test_any_name_in_latex(name):
    text = escaped(name)
    rest = re.sub(r"\\(textbackslash|textasciitilde|textasciicircum|dots)\{\}", "", text)
    rest = re.sub(r"\$(\\[A-Za-z]+|\^\{\d\}|[<>|-])\$", "", rest)
    rest = re.sub(r"\{[\[*]\}", "", rest)
    rest = re.sub(r"\\[#$%&_{}]", "", rest)
    assert not set(rest) & set("\\#$%&_{}~^<>|\n\r")


@pytest.mark.parametrize("name", ["[a b]", "[2ex]·x1", "*x"])
def test_no_row_of_latex_begins_with_an_option_of_the_one_above(name):
    """After the end of a row a bracket is its height, and an asterisk forbids a page break."""
    rows = _summary([name] * 3, np.ones(3)).to_latex().split(r"\\")
    assert not any(row.lstrip().startswith(("[", "*")) for row in rows)


def test_greek_letters_and_powers_need_no_package():
    assert escaped("β₁-λ²Ω") == r"$\beta$₁-$\lambda$$^{2}$$\Omega$"
    written = style_of("latex", None, ["αβ", "m²"])
    assert written.expression(None, [Term(2.0, [("αβ", 0.0), ("m²", 0.0)], "")]) == (
        r"2\,\mathrm{\alpha \beta }\,\mathrm{m^{2}}"
    )


@given(st.lists(names, min_size=1, max_size=3))
def test_comments_of_latex_are_one_line_each(terms):
    lines = _summary(terms, np.ones(len(terms))).to_latex().splitlines()
    assert [line[0] for line in lines[:2] + lines[-1:]] == ["%", "%", "%"]
    assert lines[2].startswith(r"\begin{tabular}")
    assert lines[-2] == r"\end{tabular}"


def test_width_of_wide_and_combining_characters():
    assert width("身長") == 4
    assert width("e\u0301") == 1
    assert width("a\u200b") == 1


@given(signed, st.integers(1, 17))
def test_short_numbers(value, digits):
    assert float(short(abs(value), digits)) == pytest.approx(abs(value), rel=5.0001 * 10.0**-digits)


@given(st.floats(-1e6, 1e6), st.lists(st.tuples(st.floats(-1e9, 1e9), st.integers(0, 2), st.floats(-5, 5)), max_size=4))
def test_an_expression_is_its_sum(intercept, terms):
    inputs = {"a": 1.5, "b_2": -2.25, "ß": 0.75}
    labels = list(inputs)
    written = [Term(w, [(labels[k], o), (labels[k], o), (labels[0], 0.0)], "") for w, k, o in terms]
    value = eval(style_of("python", None, labels).expression(intercept, written), {"__builtins__": {}}, inputs)
    parts = [w * (inputs[labels[k]] - o) ** 2 * inputs["a"] for w, k, o in terms]
    assert value == pytest.approx(intercept + sum(parts), rel=1e-9, abs=1e-12 * sum(map(abs, parts)) + 1e-12)


@given(names)
def test_names_of_variables(name):
    """A name that is said to be a variable is one, and no other."""
    if is_variable(name):
        assert eval(name, {"__builtins__": {}}, {name: 7}) == 7


def test_a_number_and_an_item_in_python():
    style = style_of("python", None, ["a b", "'"])
    assert (
        eval(style.expression(None, [Term(-2.0, [("'", 0.0), ("a b", 0.0)], "")]), {"X": {"a b": 3.0, "'": 5.0}}) == -30
    )
    assert style.expression(None, []) == "0.0"
    assert style.expression(None, [Term(-2.0, [], "bias")]) == "-2.0"
