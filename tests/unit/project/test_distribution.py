"""How the tests are handed out to the processes that run them."""

from __future__ import annotations

import pytest

from tests.distribution import ORDER, group_of, place_of


def test_every_kill_stands_for_itself() -> None:
    seeds = {group_of(f"tests/crash/test_kill_nine.py::test_nothing[{seed}]") for seed in range(50)}
    assert len(seeds) == 50


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/packaging/test_layer_sizes.py::test_a", "tests/packaging"),
        ("tests/packaging/test_lambda_layers.py::test_b[core]", "tests/packaging"),
        ("tests/http/test_t0.py::test_a[embedded]", "tests/http/test_t0.py embedded"),
        ("tests/http/test_t0.py::test_b[full-vector-error]", "tests/http/test_t0.py full"),
        ("tests/http/test_x.py::test_c[PUT /v1/policy][embedded]", "tests/http/test_x.py embedded"),
        ("tests/contract/test_queue_contract.py::test_d[moto-embed]", "tests/contract/test_queue_contract.py moto"),
        ("tests/unit/http/test_http_pack.py::test_e[a full house]", "tests/unit/http/test_http_pack.py"),
        ("tests/unit/http/test_http_pack.py::test_f", "tests/unit/http/test_http_pack.py"),
    ],
)
def test_what_shares_something_costly_is_one_group(nodeid: str, group: str) -> None:
    assert group_of(nodeid) == group


def test_the_long_groups_are_begun_first_and_the_many_short_ones_last() -> None:
    folders = ["tests/crash/a.py::t", "tests/new/a.py::t", "tests/unit/a.py::t", "tests/http/a.py::t"]
    assert sorted(folders, key=place_of) == [folders[1], folders[3], folders[2], folders[0]]
    assert ORDER[-1] == "crash"
