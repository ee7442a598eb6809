"""The README's console blocks are typed into a shell beside a live service, and print what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from local.api_client import ApiClient
from local.running import RunningServer, start_server
from local.template import ROOT
from tests.patience import PATIENCE_S
from tests.readme.console import Command, commands_of, difference

COMMANDS = list(commands_of((ROOT / "README.md").read_text(encoding="utf-8")))
SHOWN_URL = "http://127.0.0.1:8787"
LAGS = ("unindexed", "unembedded", "unobserved")
LOOK_S = 0.5
BASH = shutil.which("bash") or "bash"
END = "--- the command has ended ---"
INSTALLED = f'neve() {{ "{sys.executable}" -m neve_cli "$@"; }}; python3() {{ "{sys.executable}" "$@"; }}'
"""What ``pip install './sdk/python[cli]'`` brings."""


class Shell:
    """One for all blocks: what is exported stays."""

    def __init__(self, server: RunningServer) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NEVE_")}
        self._url = server.base_url
        self._process = subprocess.Popen(
            [BASH, "--noprofile", "--norc"],
            env=environment | {"NEVE_KEY": server.key, "PYTHONPATH": str(ROOT / "sdk" / "python"), "COLUMNS": "140"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.type(INSTALLED)

    def type(self, command: str) -> str:
        """What it prints, on either stream."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{command.replace(SHOWN_URL, self._url)}\necho '{END}'\n")
        self._process.stdin.flush()
        printed = ""
        for line in self._process.stdout:
            before, ended, _ = line.partition(END)
            printed += before
            if ended:
                return printed
        raise AssertionError(f"the shell has ended: {printed}")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def printed(encoder_files: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Command, str]]:
    """What each command prints, in the order of the document; the reader waits, as it says, until what was said is
    observed."""
    server = start_server(tmp_path_factory.mktemp("readme") / "data")
    shell = Shell(server)
    try:
        with closing(ApiClient(server.base_url, server.key)) as client:
            typed = {}
            # The first recall loads the encoder, which takes as long as the SDK waits.
            client.expect(200, "POST", "/v1/users/nobody/recall", {"query": "Is the encoder there?"})
            for command in COMMANDS:
                wait_until_found(client)
                typed[command] = shell.type(command.typed)
            yield typed
    finally:
        shell.close()
        server.stop()


def wait_until_found(client: ApiClient) -> None:
    end = time.monotonic() + PATIENCE_S
    while any(client.expect(200, "GET", "/v1/users/ada/stats")["memory_lag"][name] for name in LAGS):
        assert time.monotonic() < end, "what was said is not observed, or has no vectors"
        time.sleep(LOOK_S)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_readme_says_what_is_printed(command: Command, printed: dict[Command, str]) -> None:
    found = difference(command.printed, printed[command])
    assert found is None, f"\n$ {command.typed}\n{found}\n\nwhole: {printed[command]}"


def test_every_block_is_typed() -> None:
    assert {command.block for command in COMMANDS} == set(range(1, 6))
    assert len(COMMANDS) >= 10


# --- the comparison itself ------------------------------------------------------------------------

SAME = {
    "word for word": ("seqs  1", "seqs  1\n"),
    "something left out": ('{"a":1,…,"z":2}', '{"a":1,"b":[],"z":2}\n'),
    "another id and time": ("mem_01M83WW0SJ6S3YZZPGF9Y4RDVJ 2026-11-23", "mem_01M8HYHVJR5XQT2MSYDRG5N9DK 2027-01-01"),
    "another measure": ('{"rrf":0.0325}', '{"rrf":0.1}'),
    "JSON in lines": ('{"a":[1,\n  2]}', '{"a":[1,2]}'),
    "wider columns": ("ID   TEXT", "ID          TEXT"),
}
OTHER = {
    "another word": ("seqs  1", "seqs  2"),
    "nothing": ("seqs  1", ""),
    "more behind it": ("seqs  1", "seqs  1\nwarning"),
    "another field": ('{"a":1,…}', '{"b":1}'),
    "another order": ('{…"a":1,…"b":1}', '{"b":1,"a":1}'),
    "a whole number is no measure": ('{"rank":1,…}', '{"rank":2,"x":1}'),
}


@pytest.mark.parametrize(("documented", "is_printed"), SAME.values(), ids=SAME.keys())
def test_what_differs_with_every_run_is_no_difference(documented: str, is_printed: str) -> None:
    assert difference(documented, is_printed) is None


@pytest.mark.parametrize(("documented", "is_printed"), OTHER.values(), ids=OTHER.keys())
def test_a_difference_is_found(documented: str, is_printed: str) -> None:
    assert difference(documented, is_printed) is not None
