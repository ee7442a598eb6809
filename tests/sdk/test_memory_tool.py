"""Claude's memory tool of the SDK against the file tool of the package ``anthropic``, on a running service: the same
commands, the same answers, but where privacy refuses."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.api_client import ApiClient, Reply
from local.running import RunningServer, start_server
from sdk.python.neve.memory_tool import (
    KEPT_FOLDER,
    MEMORY_TOOL,
    Answer,
    AsyncClaudeMemoryTool,
    ClaudeMemoryTool,
)

SCENARIOS = Path(__file__).parents[2] / "sdk" / "scenarios" / "memory_tool.json"
Command = dict[str, Any]


# --- the service, as the SDK calls it -------------------------------------------------------------


class Refusal(Exception):
    """As a ``NeveError``."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(problem["detail"])
        self.code, self.errors = problem["code"], problem.get("errors", [])


@dataclass
class Calls:
    """``before_write``: runs once before the next write, as somebody else would."""

    api: ApiClient
    before_write: Callable[[], object] | None = None

    def get_document(self, user_id: str, *, path: str) -> Mapping[str, Any]:
        return self._call(user_id, "GET", "", query={"path": path})

    def put_document(self, user_id: str, body: Any, *, path: str, **conditions: str | None) -> Mapping[str, Any]:
        return self._call(user_id, "PUT", "", body, query={"path": path}, **conditions)

    def list_documents(self, user_id: str, **query: Any) -> Mapping[str, Any]:
        return self._call(user_id, "GET", "/list", query=query)

    def delete_documents(
        self, user_id: str, *, path: str | None = None, prefix: str | None = None, if_match: str | None = None
    ) -> Mapping[str, Any]:
        return self._call(user_id, "DELETE", "", query={"path": path, "prefix": prefix}, if_match=if_match)

    def move_document(self, user_id: str, body: Any) -> Mapping[str, Any]:
        return self._call(user_id, "POST", "/move", body)

    def _call(
        self,
        user: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Mapping[str, Any]:
        if method != "GET" and self.before_write is not None:
            first, self.before_write = self.before_write, None
            first()
        headers = {name.replace("_", "-"): value for name, value in more.items() if value is not None}
        given = {name: str(value) for name, value in (query or {}).items() if value is not None}
        at = f"/v1/users/{user}/documents{path}"
        reply: Reply = self.api.call(method, at, body, query=given, headers=headers)
        if reply.status >= 400:
            raise Refusal(reply.json())
        return dict(reply.json())


class Client:
    def __init__(self, api: ApiClient) -> None:
        self.raw: Calls = Calls(api)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = start_server(tmp_path_factory.mktemp("memory-tool") / "data")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def api(service: RunningServer) -> Iterator[ApiClient]:
    """With a key of the scope ``documents`` alone."""
    with closing(ApiClient(service.base_url, service.key)) as client:
        key = client.expect(201, "POST", "/v1/keys", {"scopes": ["documents"]})["key"]
        with closing(ApiClient(service.base_url, key)) as limited:
            yield limited


@pytest.fixture
def client(api: ApiClient) -> Client:
    return Client(api)


@pytest.fixture
def tool(client: Client) -> ClaudeMemoryTool:
    return ClaudeMemoryTool(client, f"user-{uuid4().hex}")


# --- the reference --------------------------------------------------------------------------------

_FOLDER = re.compile(r"^[^\t\n]+(?=\t.*/$)", re.MULTILINE)
_HEAD = re.compile(r"\A(Here're the files [^\n]*\n)[^\t\n]+")


@dataclass
class Files:
    """``anthropic``'s tool. The size of a folder is its file system's, so that it is made the one of most."""

    tool: BetaLocalFilesystemMemoryTool

    def answer(self, command: Command) -> Answer | None:
        """None for a failure that it has no words for: an error of the operating system."""
        try:
            content = self.tool.call(command)
        except ToolError as error:
            return Answer(str(error.content), is_error=True)
        except (OSError, ValueError):
            return None
        assert isinstance(content, str)
        if content.startswith("Here're the files"):
            content = _HEAD.sub(r"\g<1>4K", _FOLDER.sub("4K", content))
        return Answer(content, is_error=False)


def differences(ours: ClaudeMemoryTool, theirs: Files, commands: list[Command]) -> list[tuple[Command, Answer, Any]]:
    found = []
    for command in commands:
        own, reference = ours.answer(command), theirs.answer(command)
        if own != reference and not (reference is None and own.is_error):
            found.append((command, own, reference))
    return found


# --- random commands ------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "a.txt", "notes", ".hidden", "x y", "é", "日本.md", "a+b&c=d#1%"])
FEW = st.sampled_from(["/memories/a", "/memories/a.txt", "/memories/a/a.txt", "/memories/a/b", "/memories/b/a/a.txt"])
PLAIN = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/".join(["/memories", *names]))
ODD = st.sampled_from(
    [
        *("/memories/", "/memories//a", "/memories/./a/b", "/memories/a/../b", "/memories/../etc", "/memories/a/"),
        *("/memories/..", "/etc/passwd", "memories/a", "/memories/a/b/..", "/memories/../memories/a", "/memoriesa"),
    ]
)
PATHS = st.one_of(FEW, FEW, FEW, FEW, PLAIN, ODD)
TEXTS = st.text(st.sampled_from("ab \n\n\r\té🎉`"), max_size=12)
LONGER = st.sampled_from(["", "\n", "a\nb\nc\nd\ne\nf\n", "line\r\nline\n", "x" * 1_500, "\u2028"])
SOME_TEXTS = st.one_of(TEXTS, LONGER)
COMMANDS = st.one_of(
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": PATHS},
        optional={"view_range": st.lists(st.integers(-2, 8), min_size=2, max_size=2)},
    ),
    st.fixed_dictionaries({"command": st.just("view"), "path": st.just("/memories")}),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": SOME_TEXTS}),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": SOME_TEXTS}),
    st.fixed_dictionaries(
        {
            "command": st.just("str_replace"),
            "path": PATHS,
            "old_str": st.one_of(TEXTS, st.sampled_from(["a", "b", "\n", "line", ""])),
            "new_str": SOME_TEXTS,
        }
    ),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": PATHS, "insert_line": st.integers(-1, 5), "insert_text": SOME_TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
)


BEGUN = st.lists(
    st.fixed_dictionaries({"command": st.just("create"), "path": FEW, "file_text": LONGER}), min_size=1, max_size=3
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(begun=BEGUN, commands=st.lists(COMMANDS, min_size=4, max_size=14))
def test_random_commands_are_answered_as_by_the_file_tool(
    client: Client, tmp_path_factory: pytest.TempPathFactory, begun: list[Command], commands: list[Command]
) -> None:
    theirs = Files(BetaLocalFilesystemMemoryTool(str(tmp_path_factory.mktemp("files"))))
    last = [{"command": "view", "path": "/memories"}]
    assert differences(ClaudeMemoryTool(client, f"user-{uuid4().hex}"), theirs, begun + commands + last) == []


# --- the sequences that every language plays ------------------------------------------------------

TABLE = json.loads(SCENARIOS.read_text(encoding="utf-8"))["sequences"]


@pytest.mark.parametrize("scenario", TABLE, ids=[one["name"] for one in TABLE])
def test_a_scenario_of_the_table_is_answered_so(
    tool: ClaudeMemoryTool, tmp_path: Path, scenario: dict[str, Any]
) -> None:
    answers = [Answer(**one) for one in scenario["answers"]]
    assert [tool.answer(command) for command in scenario["commands"]] == answers
    if not scenario.get("ours"):
        theirs = Files(BetaLocalFilesystemMemoryTool(str(tmp_path)))
        assert [theirs.answer(command) for command in scenario["commands"]] == answers


# --- races ----------------------------------------------------------------------------------------


def created(tool: ClaudeMemoryTool, path: str, text: str) -> None:
    assert not tool.answer({"command": "create", "path": path, "file_text": text}).is_error


def said(tool: ClaudeMemoryTool, path: str) -> str:
    return tool.handle({"command": "view", "path": path}).partition("\n")[2]


def test_an_edit_that_lost_a_race_is_made_on_what_is_there_now(tool: ClaudeMemoryTool, client: Client) -> None:
    other = ClaudeMemoryTool(Client(client.raw.api), tool.files._user)
    created(tool, "/memories/a", "one\ntwo\n")
    insert = {"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "zero"}
    client.raw.before_write = lambda: other.handle(insert)
    edit = {"command": "str_replace", "path": "/memories/a", "old_str": "two", "new_str": "three"}
    assert not tool.answer(edit).is_error
    assert said(tool, "/memories/a") == "     1\tzero\n     2\tone\n     3\tthree\n     4\t"


def test_an_edit_that_loses_again_is_told_so_and_writes_nothing(tool: ClaudeMemoryTool, client: Client) -> None:
    other = ClaudeMemoryTool(Client(client.raw.api), tool.files._user)
    created(tool, "/memories/a", "one\n")
    more = {"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "more"}

    def faster() -> None:
        other.handle(more)
        client.raw.before_write = faster

    client.raw.before_write = faster
    lost = tool.answer({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "mine"})
    client.raw.before_write = None
    assert lost == Answer(
        "The file /memories/a was not edited. It was changed meanwhile. View it, and try again.", True
    )
    assert "mine" not in said(tool, "/memories/a")


def test_a_file_that_is_deleted_under_an_edit_is_not_made_again(tool: ClaudeMemoryTool, client: Client) -> None:
    other = ClaudeMemoryTool(Client(client.raw.api), tool.files._user)
    created(tool, "/memories/a", "one\n")
    client.raw.before_write = lambda: other.handle({"command": "delete", "path": "/memories/a"})
    edit = {"command": "str_replace", "path": "/memories/a", "old_str": "one", "new_str": "two"}
    told = Answer("The path /memories/a does not exist. Please provide a valid path.", is_error=True)
    assert (tool.answer(edit), tool.answer(edit)) == (told, told)


def test_of_two_that_create_a_file_one_is_told_so(tool: ClaudeMemoryTool, client: Client) -> None:
    other = ClaudeMemoryTool(Client(client.raw.api), tool.files._user)
    client.raw.before_write = lambda: created(other, "/memories/a", "theirs")
    mine = tool.answer({"command": "create", "path": "/memories/a", "file_text": "mine"})
    assert mine == Answer("File /memories/a already exists", is_error=True)
    assert said(tool, "/memories/a") == "     1\ttheirs"


# --- what comes from outside ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        *({}, {"command": None}, {"command": "format"}, {"command": 3}, "view", None, []),
        *({"command": "view"}, {"command": "view", "path": None}, {"command": "view", "path": 3}),
        {"command": "create", "path": "/memories/a"},
        {"command": "insert", "path": "/memories/a", "insert_line": "1", "insert_text": "x"},
        {"command": "insert", "path": "/memories/a", "insert_line": True, "insert_text": "x"},
        {"command": "str_replace", "path": "/memories/a", "old_str": "a"},
        {"command": "rename", "old_path": "/memories/a"},
        {"command": "view", "path": "/memories/a", "view_range": ["1", "2"]},
        {"command": "create", "path": "/memories/a\u200bb", "file_text": "x"},
        {"command": "create", "path": "/memories/" + "x" * 900, "file_text": "x"},
        {"command": "create", "path": "/memories/a", "file_text": "\x07"},
        {"command": "create", "path": "/memories/a", "file_text": "\ud800"},
        {"command": "create", "path": "/memories/a", "file_text": "long " * 250_000},
    ],
)
def test_what_makes_no_sense_is_told_in_a_sentence(tool: ClaudeMemoryTool, command: Any) -> None:
    content, is_error = tool.answer(command)
    assert is_error and content.endswith((".", "…")) and "Traceback" not in content
    assert said(tool, "/memories") == "4K\t/memories"


def test_other_documents_are_out_of_reach(tool: ClaudeMemoryTool, client: Client) -> None:
    client.raw.put_document(tool.files._user, {"text": "x"}, path="/profile/identity")
    for path in ("/profile/identity", "/memories/../profile/identity", "/memories/../../profile/identity"):
        for command in ({"command": "view", "path": path}, {"command": "delete", "path": path}):
            assert tool.answer(command).is_error
        created(tool, "/memories/x", "x")
        assert tool.answer({"command": "rename", "old_path": "/memories/x", "new_path": path}).is_error
        tool.handle({"command": "delete", "path": "/memories/x"})


def test_an_emptied_folder_leaves_nothing_but_a_hidden_blank(tool: ClaudeMemoryTool, client: Client) -> None:
    created(tool, "/memories/a/b", "x")
    tool.handle({"command": "delete", "path": "/memories/a/b"})
    there = client.raw.list_documents(tool.files._user)["documents"]
    assert [(one["path"], one["bytes"]) for one in there] == [(f"/memories/a/{KEPT_FOLDER}", 0)]
    assert tool.clear_all_memory() == "All memory cleared"
    assert client.raw.list_documents(tool.files._user)["documents"] == []


@dataclass
class _Down(Exception):
    """As a ``NeveConnection``."""

    code = "unreachable"
    retryable = True


def test_an_outage_is_told_and_a_wrong_key_raises(
    tool: ClaudeMemoryTool, client: Client, service: RunningServer
) -> None:
    def down() -> None:
        raise _Down

    client.raw.before_write = down
    answer = tool.answer({"command": "create", "path": "/memories/a", "file_text": "x"})
    assert answer == Answer("The memory cannot be reached at the moment. Go on without it.", is_error=True)
    with closing(ApiClient(service.base_url, "nv_wrong")) as wrong, pytest.raises(Refusal, match="key"):
        ClaudeMemoryTool(Client(wrong), "ada").answer({"command": "view", "path": "/memories"})


# --- anthropic's loop -----------------------------------------------------------------------------


def test_the_runner_of_anthropic_takes_the_tool(client: Client) -> None:
    """Its own dispatch builds the command without a look at it."""
    tool = ClaudeMemoryTool(client, f"user-{uuid4().hex}", cache_control={"type": "ephemeral"})
    assert isinstance(tool, BetaAbstractMemoryTool) and tool.name == MEMORY_TOOL["name"]
    assert tool.to_dict() == {**MEMORY_TOOL, "cache_control": {"type": "ephemeral"}}
    assert tool.call({"command": "create", "path": "/memories/a", "file_text": "x"}).startswith("File created")
    with pytest.raises(ToolError, match="already exists"):
        tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
    with pytest.raises(ToolError, match="Unknown command"):
        tool.call({"command": "chmod"})


class OnceEach(Calls):
    """A connection for each call: threads come and go."""

    def _call(self, *args: Any, **more: Any) -> Mapping[str, Any]:
        with closing(self.api):
            return super()._call(*args, **more)


def test_the_tool_for_asyncio_answers_the_same(client: Client) -> None:
    client.raw = OnceEach(client.raw.api)
    tool = AsyncClaudeMemoryTool(client, f"user-{uuid4().hex}")
    create = {"command": "create", "path": "/memories/a", "file_text": "x"}

    async def twice() -> list[str]:
        return [await tool.handle(create), await tool.handle(create)]

    assert asyncio.run(twice()) == ["File created successfully at: /memories/a", "File /memories/a already exists"]
    with pytest.raises(ToolError, match="already exists"):
        asyncio.run(tool.call(create))


def test_the_module_needs_no_anthropic() -> None:
    code = (
        "import sys; sys.modules['anthropic'] = None; sys.modules['anthropic.lib'] = None\n"
        "from sdk.python.neve.memory_tool import ClaudeMemoryTool\n"
        "class None_: raw = None\n"
        "print(ClaudeMemoryTool(None_(), 'ada').handle({'command': 'chmod'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Unknown command: chmod")
