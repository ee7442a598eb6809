"""The codec of the table and its stream."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.attribute_values import PUT_ID, plain_item, plain_value, typed_item, typed_value

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans()
    | st.integers(-(10**38) + 1, 10**38 - 1)
    | st.floats(-1e125, 1e125, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-129)
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3),
    max_leaves=8,
)


def kinds(value: Any) -> Any:
    """The value with the type of everything in it."""
    if isinstance(value, dict):
        return {name: kinds(part) for name, part in value.items()}
    return [kinds(part) for part in value] if isinstance(value, list) else (type(value), value)


@given(VALUES)
def test_a_value_comes_back_with_its_type(value: Any) -> None:
    assert kinds(plain_value(typed_value(value))) == kinds(value)


@given(VALUES)
def test_a_value_comes_back_from_an_event(value: Any) -> None:
    typed = typed_value(value, lambda raw: base64.b64encode(raw).decode())
    assert kinds(plain_value(typed)) == kinds(value)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ({"N": "10000000000000000000000"}, 10**22),
        ({"N": "1E+22"}, 10**22),
        ({"N": "0.5"}, 0.5),
        ({"N": "1E-7"}, 1e-7),
        ({"NS": ["2"]}, 2.0),
        ({"NS": ["10000000000000000000000"]}, 1e22),
        ({"NS": ["-1.5E+30"]}, -1.5e30),
    ],
    ids=str,
)
def test_a_number_is_read_in_every_form_the_service_may_give_it(typed: Any, value: float) -> None:
    assert kinds(plain_value(typed)) == kinds(value)


def test_a_whole_float_is_told_from_an_int() -> None:
    assert typed_item({"i": 2, "f": 2.0, "h": 0.5}) == {"i": {"N": "2"}, "f": {"NS": ["2"]}, "h": {"N": "0.5"}}


def test_what_the_engine_keeps_for_itself_is_no_part_of_a_row() -> None:
    assert plain_item({PUT_ID: {"B": b"x"}, "inside": {"M": {"a": {"S": "b"}}}}) == {"inside": {"a": "b"}}


@pytest.mark.parametrize("value", [None, {1, 2}, object()], ids=["none", "set", "object"])
def test_what_no_row_holds_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="a row cannot hold"):
        typed_value([value])


@pytest.mark.parametrize("typed", [{"SS": ["a"]}, {"NULL": True}, {"NS": ["1", "2"]}, {"N": "1", "S": "1"}], ids=str)
def test_what_no_row_wrote_is_refused(typed: Any) -> None:
    with pytest.raises(ValueError, match=r"never holds|unpack"):
        plain_value(typed)


def test_each_kind_of_value_has_its_type() -> None:
    value = {"t": True, "f": 1.5, "w": 2.0, "l": ["a", 1], "m": {"k": False}}
    assert typed_value(value) == {
        "M": {
            "t": {"BOOL": True},
            "f": {"N": "1.5"},
            "w": {"NS": ["2"]},
            "l": {"L": [{"S": "a"}, {"N": "1"}]},
            "m": {"M": {"k": {"BOOL": False}}},
        }
    }
