"""Claude's memory tool (``memory_20250818``) on a person's documents below ``/memories/``::

    tool = ClaudeMemoryTool(Neve(), "ada")
    runner = anthropic.beta.messages.tool_runner(..., tools=[tool])     # anthropic's own loop
    text = tool.handle(block.input)                                      # a loop of one's own

It answers as the file tool of the package ``anthropic`` does, which need not be installed. A folder is there as long as
something is below it: of one that becomes empty, a blank hidden document keeps the place. An edit is written only to
the rev that it was made on; whoever loses a race twice is told so. What the tenant's policy blocks is not stored, and
the answer says what it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
else:
    try:
        from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    except ImportError:
        BetaAbstractMemoryTool = BetaAsyncAbstractMemoryTool = object

        class ToolError(Exception):
            """A failure that the model is told of."""


MEMORY_TOOL = {"type": "memory_20250818", "name": "memory"}
"""The tool as a request names it."""
ROOT = "/memories"
KEPT_FOLDER = ".folder"
"""Name of the blank document that keeps an empty folder's place."""
FOLDER_SIZE = "4K"
"""What a file system says of most folders."""
LINE_WIDTH, MOST_LINES = 6, 999_999
DEPTH, PAGE = 2, 200
TRIES = 2
NOWHERE = ("document_not_found", "validation_failed")
"""Codes of a path where nothing is, or where nothing can be."""
RETRY = "It was changed meanwhile. View it, and try again."
AWAY = "The memory cannot be reached at the moment. Go on without it."
_BLOCKED = {
    "card_number": "a card number",
    "ssn": "a social security number",
    "password": "a password",
    "api_key": "an API key",
    "medical_record_number": "a medical record number",
}
_PARAMETERS: dict[str, dict[str, type]] = {
    "view": {"path": str},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "old_str": str, "new_str": str},
    "insert": {"path": str, "insert_line": int, "insert_text": str},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
}


class Answer(NamedTuple):
    """What goes into the ``tool_result``."""

    content: str
    is_error: bool


class DocumentCalls(Protocol):
    """The calls of documents that ``Neve.raw`` has. What fails raises an exception with a ``code``, and with the field
    errors in ``errors``."""

    def get_document(self, user_id: str, *, path: str) -> Mapping[str, Any]: ...
    def put_document(
        self, user_id: str, body: Any, *, path: str, if_match: str | None = None, if_none_match: str | None = None
    ) -> Mapping[str, Any]: ...
    def list_documents(
        self, user_id: str, *, prefix: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Mapping[str, Any]: ...
    def delete_documents(
        self, user_id: str, *, path: str | None = None, prefix: str | None = None, if_match: str | None = None
    ) -> Mapping[str, Any]: ...
    def move_document(self, user_id: str, body: Any) -> Mapping[str, Any]: ...


class Client(Protocol):
    """``Neve``, or whatever has its calls of documents."""

    @property
    def raw(self) -> Any: ...


class _Told(Exception):
    """Why a command was not carried out, for the model."""


class MemoryFiles:
    """The six commands on the documents of one person. ``neve``: a client, whose key may be of the scope ``documents``
    alone."""

    def __init__(self, neve: Client, user_id: str) -> None:
        self._calls: DocumentCalls = neve.raw
        self._user = user_id

    def answer(self, command: object) -> Answer:
        """Carry a command out: the ``input`` of a ``tool_use`` block. Raises what the client raises for a key that is
        wrong or a service that is none."""
        try:
            return Answer(self._carry_out(command), is_error=False)
        except _Told as told:
            return Answer(str(told), is_error=True)
        except Exception as error:
            if (words := _in_words(error)) is None:
                raise
            return Answer(words, is_error=True)

    def _carry_out(self, command: object) -> str:
        if not isinstance(command, Mapping):
            raise _Told("The command must be an object.")
        name = command.get("command")
        if not isinstance(name, str) or name not in _PARAMETERS:
            raise _Told(f"Unknown command: {name}. It must be one of {', '.join(_PARAMETERS)}.")
        given: dict[str, Any] = {}
        for parameter, kind in _PARAMETERS[name].items():
            value = command.get(parameter)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise _Told(f"The parameter `{parameter}` of {name} is required, as {_NAMES[kind]}.")
            given[parameter] = value
        if name == "view":
            given["view_range"] = _range_of(command.get("view_range"))
        run: Callable[..., str] = getattr(self, f"_{name}")
        return run(**given)

    # --- the commands -----------------------------------------------------------------------------

    def _view(self, path: str, view_range: Sequence[int] | None) -> str:
        place = _place(path)
        document = None if place == ROOT else self._read(place)
        if document is not None:
            return _numbered(path, document["text"], view_range)
        below = self._below(place)
        if not below and place != ROOT:
            raise _Told(f"The path {path} does not exist. Please provide a valid path.")
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        lines = [f"{size}\t{path}/{name}" for name, size in _entries(below)]
        return "\n".join([head, f"{FOLDER_SIZE}\t{path}", *lines])

    def _create(self, path: str, file_text: str) -> str:
        place, exists = _place(path), f"File {path} already exists"
        if place == ROOT:
            raise _Told(exists)
        try:
            made = self._calls.put_document(self._user, {"text": file_text}, path=place, if_none_match="*")
        except Exception as error:
            code = _code(error)
            if code == "precondition_failed" or (code == "conflict" and self._kind(place) == "folder"):
                raise _Told(exists) from None
            if code == "conflict":
                raise _Told(f"The path {path} is below a file.") from None
            raise
        return f"File created successfully at: {path}{_left_out(made, file_text)}"

    def _str_replace(self, path: str, old_str: str, new_str: str) -> str:
        def replaced(text: str) -> tuple[str, str]:
            count = text.count(old_str)
            if count == 0:
                raise _Told(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
            if count > 1:
                lines = ", ".join(str(line) for line in _lines_with(old_str, text))
                raise _Told(
                    f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}."
                    " Please ensure it is unique"
                )
            line = text[: text.index(old_str)].count("\n")
            after = text.replace(old_str, new_str)
            around = after.split("\n")[max(0, line - 2) : line + 3]
            shown = _with_numbers(around, max(0, line - 2) + 1)
            told = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
            return after, "\n".join([told, *shown])

        return self._edit(path, replaced)

    def _insert(self, path: str, insert_line: int, insert_text: str) -> str:
        def inserted(text: str) -> tuple[str, str]:
            lines = text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= insert_line <= len(lines):
                raise _Told(
                    f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
                )
            lines.insert(insert_line, insert_text.rstrip("\n"))
            after = "\n".join(lines)
            return after if after.endswith("\n") else f"{after}\n", f"The file {path} has been edited."

        return self._edit(path, inserted)

    def _delete(self, path: str) -> str:
        place = _place(path)
        if place == ROOT:
            raise _Told("Cannot delete the /memories directory itself")
        if self._delete_file(place) or self._delete_folder(place):
            self._keep(_folder(place))
            return f"Successfully deleted {path}"
        raise _Told(f"The path {path} does not exist")

    def _rename(self, old_path: str, new_path: str) -> str:
        old, new = _place(old_path), _place(new_path)
        if old == ROOT:
            raise _Told("Cannot rename the /memories directory itself")
        taken = f"The destination {new_path} already exists"
        if self._kind(new) is not None:
            raise _Told(taken)
        kind = self._kind(old)
        if kind is None or new.startswith(f"{old}/"):
            self._keep(_folder(new))
            raise _Told(f"The path {old_path} does not exist" if kind is None else f"{new_path} is below {old_path}")
        try:
            while self._move(old, new, below=kind == "folder"):
                pass
        except Exception as error:
            if _code(error) == "document_not_found":
                raise _Told(f"The path {old_path} does not exist") from None
            if _code(error) != "conflict":
                raise
            raise _Told(taken if self._kind(new) else f"The path {new_path} is below a file.") from None
        self._keep(_folder(old))
        return f"Successfully renamed {old_path} to {new_path}"

    # --- files ------------------------------------------------------------------------------------

    def _edit(self, path: str, change: Callable[[str], tuple[str, str]]) -> str:
        """``change``: of the text, with what is answered."""
        for _ in range(TRIES):
            place, document = self._file(path)
            after, told = change(document["text"])
            try:
                rev = f'"{document["rev"]}"'
                written = self._calls.put_document(self._user, {"text": after}, path=place, if_match=rev)
            except Exception as error:
                if _code(error) != "precondition_failed":
                    raise
                continue
            return told + _left_out(written, after)
        raise _Told(f"The file {path} was not edited. {RETRY}")

    def _file(self, path: str) -> tuple[str, Mapping[str, Any]]:
        place = _place(path)
        document = None if place == ROOT else self._read(place)
        if document is not None:
            return place, document
        if self._kind(place) == "folder":
            raise _Told(f"The path {path} is not a file.")
        raise _Told(f"The path {path} does not exist. Please provide a valid path.")

    def _read(self, place: str) -> Mapping[str, Any] | None:
        try:
            return self._calls.get_document(self._user, path=place)
        except Exception as error:
            if _code(error) not in NOWHERE:
                raise
            return None

    def _delete_file(self, place: str) -> bool:
        for _ in range(TRIES):
            document = self._read(place)
            if document is None:
                return False
            try:
                self._calls.delete_documents(self._user, path=place, if_match=f'"{document["rev"]}"')
            except Exception as error:
                if _code(error) not in ("precondition_failed", "document_not_found"):
                    raise
                continue
            return True
        raise _Told(f"{place} was not deleted. {RETRY}")

    # --- folders ----------------------------------------------------------------------------------

    def _kind(self, place: str) -> str | None:
        """``file``, ``folder``, or None where nothing is."""
        if place == ROOT:
            return "folder"
        [first] = [one["path"] for one in self._list(place, 1)["documents"]] or [None]
        return None if first is None else "file" if first == place else "folder"

    def _below(self, place: str) -> list[tuple[str, int]]:
        """The documents below a folder, by their paths from there, with their bytes."""
        found: list[tuple[str, int]] = []
        cursor: str | None = None
        while True:
            page = self._list(place, PAGE, cursor)
            found += [(one["path"].removeprefix(f"{place}/"), int(one["bytes"])) for one in page["documents"]]
            cursor = page.get("next_cursor")
            if cursor is None:
                return found

    def _list(self, place: str, limit: int, cursor: str | None = None) -> Mapping[str, Any]:
        try:
            return self._calls.list_documents(self._user, prefix=place, limit=limit, cursor=cursor)
        except Exception as error:
            if _code(error) not in NOWHERE:
                raise
            return {"documents": []}

    def _delete_folder(self, place: str) -> bool:
        deleted = False
        while self._kind(place) is not None:
            done = self._calls.delete_documents(self._user, prefix=place)
            deleted = deleted or bool(done["deleted"])
            if not done["more"]:
                break
        return deleted

    def _move(self, old: str, new: str, *, below: bool) -> bool:
        """Whether some are left."""
        body = {"path": old, "to": new, "prefix": True} if below else {"path": old, "to": new}
        return bool(self._calls.move_document(self._user, body).get("more"))

    def _keep(self, place: str) -> None:
        """A folder in which nothing is any more."""
        if self._kind(place) is not None:
            return
        try:
            self._calls.put_document(self._user, {"text": ""}, path=f"{place}/{KEPT_FOLDER}", if_none_match="*")
        except Exception as error:
            if _code(error) == "conflict":
                raise _Told(f"The path {place} is below a file.") from None
            if _code(error) != "precondition_failed":
                raise


# --- paths and lines ------------------------------------------------------------------------------

_NAMES: dict[type, str] = {str: "a text", int: "a whole number"}


def _place(path: str) -> str:
    """The document's path, without ``.``, ``..`` and empty segments."""
    if not path.startswith(ROOT):
        raise _Told(f"Path must start with {ROOT}, got: {path}")
    place = [ROOT[1:]]
    for segment in path[len(ROOT) :].split("/"):
        if segment == "..":
            if not place:
                break
            place.pop()
        elif segment not in ("", "."):
            place.append(segment)
    if not place or place[0] != ROOT[1:]:
        raise _Told(f"Path {path} would escape {ROOT} directory")
    return "/" + "/".join(place)


def _folder(place: str) -> str:
    return place.rpartition("/")[0]


def _range_of(given: object) -> Sequence[int] | None:
    if given is None or given == []:
        return None
    if isinstance(given, Sequence) and all(isinstance(one, int) for one in given):
        return given if len(given) == 2 else None
    raise _Told("The parameter `view_range` of view must be two whole numbers.")


def _numbered(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines, first = text.split("\n"), 1
    if len(lines) > MOST_LINES:
        raise _Told(f"File {path} exceeds maximum line limit of 999,999 lines.")
    if view_range is not None:
        first = max(1, view_range[0])
        lines = lines[first - 1 : len(lines) if view_range[1] == -1 else view_range[1]]
    return f"Here's the content of {path} with line numbers:\n" + "\n".join(_with_numbers(lines, first))


def _with_numbers(lines: Sequence[str], first: int) -> list[str]:
    return [f"{number:>{LINE_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)]


def _lines_with(part: str, text: str) -> list[int]:
    places = (at for at in range(len(text) + 1) if text.startswith(part, at))
    return [text[:at].count("\n") + 1 for at in places]


def _entries(below: Sequence[tuple[str, int]]) -> list[tuple[str, str]]:
    """Name and size of what is shown of a folder, two levels deep, without what is hidden."""
    sizes: dict[tuple[str, ...], str] = {}
    for path, size in below:
        segments = path.split("/")
        for level in range(1, min(len(segments), DEPTH) + 1):
            if segments[level - 1].startswith("."):
                break
            whole = level == len(segments)
            sizes[tuple(segments[:level])] = _size(size) if whole else FOLDER_SIZE
    folders = {tuple(path.split("/")[:level]) for path, _ in below for level in range(1, path.count("/") + 1)}
    return [("/".join(name) + ("/" if name in folders else ""), sizes[name]) for name in sorted(sizes)]


def _size(size: int) -> str:
    power = min(max(size.bit_length() - 1, 0) // 10, 3)
    scaled = size / 1024**power
    unit = "BKMG"[power]
    return f"{int(scaled)}{unit}" if scaled == int(scaled) else f"{scaled:.1f}{unit}"


# --- what the service says ------------------------------------------------------------------------


def _code(error: Exception) -> str | None:
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else None


def _in_words(error: Exception) -> str | None:
    """None for what is no matter of the model's."""
    code = _code(error)
    errors = [(str(one["field"]), str(one["message"])) for one in getattr(error, "errors", ())]
    said = " and ".join(f"the {'path' if 'text' not in field else 'text'} {message}" for field, message in errors)
    if code == "pii_blocked":
        held = [words for kind, words in _BLOCKED.items() if kind in said] or ["personal data"]
        return f"Not stored: holds {' and '.join(held)}."
    if code in ("payload_too_large", "event_too_large"):
        return "Not stored: the text is too long; at most 1 MiB is kept."
    if code in ("validation_failed", "bad_request", "malformed_json"):
        return f"Not stored: {said or error}."
    if code in ("conflict", "erasing"):
        return f"Not done: {error}"  # which is a sentence
    return AWAY if getattr(error, "retryable", False) else None


def _left_out(written: Mapping[str, Any], sent: str) -> str:
    """The policy may have personal data taken out of a text."""
    return "" if written["text"] == sent else "\nPersonal data was left out of what is stored: view it."


# --- for anthropic's tool runners -----------------------------------------------------------------


class ClaudeMemoryTool(BetaAbstractMemoryTool):
    """For ``client.beta.messages.tool_runner``; ``handle`` for everyone else."""

    def __init__(self, neve: Client, user_id: str, *, cache_control: Any = None) -> None:
        super().__init__(**({} if BetaAbstractMemoryTool is object else {"cache_control": cache_control}))
        self.files = MemoryFiles(neve, user_id)

    def handle(self, command: Mapping[str, Any]) -> str:
        """Carry a command out. The text for the ``tool_result``, of a failure as well; ``answer`` tells them apart."""
        return self.answer(command).content

    def answer(self, command: object) -> Answer:
        return self.files.answer(command)

    def call(self, input: object) -> str:
        """Raises ToolError for what the model is told of."""
        content, is_error = self.answer(input)
        if is_error:
            raise ToolError(content)
        return content

    def execute(self, command: Any) -> str:
        return self.call(_sent(command))

    view = create = str_replace = insert = delete = rename = execute

    def clear_all_memory(self) -> str:
        self.files._delete_folder(ROOT)
        return "All memory cleared"


class AsyncClaudeMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the runner of ``AsyncAnthropic``, with a client ``Neve`` that is called in a thread."""

    def __init__(self, neve: Client, user_id: str, *, cache_control: Any = None) -> None:
        super().__init__(**({} if BetaAsyncAbstractMemoryTool is object else {"cache_control": cache_control}))
        self.tool = ClaudeMemoryTool(neve, user_id)

    async def handle(self, command: Mapping[str, Any]) -> str:
        return await asyncio.to_thread(self.tool.handle, command)

    async def call(self, input: object) -> str:
        """Raises ToolError for what the model is told of."""
        return await asyncio.to_thread(self.tool.call, input)

    async def execute(self, command: Any) -> str:
        return await self.call(_sent(command))

    view = create = str_replace = insert = delete = rename = execute

    async def clear_all_memory(self) -> str:
        return await asyncio.to_thread(self.tool.clear_all_memory)


def _sent(command: Any) -> object:
    """As the model sent it: nothing is validated before."""
    return command.to_dict() if hasattr(command, "to_dict") else command
