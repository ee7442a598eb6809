"""The rules by which OpenAI's ``POST /v1/responses`` refuses a request."""

from __future__ import annotations

from tests.loopback.openai_rules import ID, NAME, TOOLS, arguments
from tests.loopback.refusal import Json, Refused, array, between, closed, distinct, matching, one_of, text

FIELDS = {
    "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "stream", "temperature", "top_p",
    "max_output_tokens", "metadata", "store", "include", "reasoning", "text", "truncation", "user", "service_tier",
    "prompt_cache_key", "safety_identifier", "previous_response_id",
}  # fmt: skip
ITEMS: dict[str, tuple[set[str], set[str]]] = {
    "message": ({"role", "content"}, {"type", "id", "status", "phase"}),
    "function_call": ({"type", "call_id", "name", "arguments"}, {"id", "status"}),
    "function_call_output": ({"type", "call_id", "output"}, {"id", "status"}),
    "reasoning": ({"type", "id", "summary"}, {"encrypted_content", "content", "status"}),
}
PARTS = {
    "input_text": {"type", "text"},
    "output_text": {"type", "text", "annotations", "logprobs"},
    "input_image": {"type", "image_url", "detail", "file_id"},
    "refusal": {"type", "refusal"},
}
SPOKEN = {"assistant": ("output_text", "refusal")}


def check(body: object) -> Json:
    """The body, when OpenAI would take it. Raises Refused."""
    found = closed(body, "body", FIELDS, ("model", "input"))
    text(found["model"], "model")
    between(found, "temperature", 0, 2)
    if "instructions" in found:
        text(found["instructions"], "instructions")
    declared = _tools(found)
    if isinstance(found["input"], str):
        text(found["input"], "input")
        return found
    items = array(found["input"], "input")
    for at, item in enumerate(items):
        _item(item, f"input[{at}]", declared)
    _pairs(items)
    return found


def _tools(body: Json) -> set[str]:
    if body.get("tools", []) == []:  # as the Agents SDK sends it for an agent without any
        return set()
    names = []
    for at, tool in enumerate(array(body["tools"], "tools", most=TOOLS)):
        where = f"tools[{at}]"
        closed(tool, where, {"type", "name", "description", "parameters", "strict"}, ("type", "name", "parameters"))
        one_of(tool["type"], f"{where}.type", ("function",))
        names.append(matching(tool["name"], f"{where}.name", NAME))
    distinct(names, "tools", "Tool names")
    return set(names)


def _item(item: object, where: str, declared: set[str]) -> None:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    one_of(kind, f"{where}.type", tuple(ITEMS))
    required, optional = ITEMS[str(kind)]
    found = closed(item, where, required | optional, sorted(required))
    if kind == "message":
        role = one_of(found["role"], f"{where}.role", ("user", "assistant", "system", "developer"))
        _content(found["content"], f"{where}.content", SPOKEN.get(role, ("input_text", "input_image")))
    elif kind == "function_call":
        matching(found["call_id"], f"{where}.call_id", ID)
        arguments(found["arguments"], f"{where}.arguments")
        if matching(found["name"], f"{where}.name", NAME) not in declared:
            raise Refused(f"{where}.name", f"tool {found['name']!r} is used and not declared in 'tools'")
    elif kind == "function_call_output":
        matching(found["call_id"], f"{where}.call_id", ID)
        if not isinstance(found["output"], str | list):
            raise Refused(f"{where}.output", "Input should be a valid string")


def _content(content: object, where: str, kinds: tuple[str, ...]) -> None:
    if isinstance(content, str):
        text(content, where)
        return
    for at, part in enumerate(array(content, where)):
        kind = one_of(part.get("type") if isinstance(part, dict) else None, f"{where}[{at}].type", kinds)
        closed(part, f"{where}[{at}]", PARTS[kind], ("type",))
        if "text" in part:
            text(part["text"], f"{where}[{at}].text")


def _pairs(items: list[Json]) -> None:
    """Refuse calls without an output, outputs without a call, and reasoning without what it led to."""
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    distinct(calls, "input", "call ids")
    known: set[str] = set()
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call":
            known.add(item["call_id"])
        if kind == "function_call_output" and item["call_id"] not in known:
            raise Refused(
                f"input[{at}]", f"No tool call found for function call output with call_id {item['call_id']}."
            )
        if kind == "reasoning":
            follows = items[at + 1] if at + 1 < len(items) else {}
            if follows.get("type") not in ("function_call", "reasoning") and follows.get("role") != "assistant":
                raise Refused(
                    f"input[{at}]",
                    f"Item '{item['id']}' of type 'reasoning' was provided without its required following item.",
                )
    outputs = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    if missing := [one for one in calls if one not in outputs]:
        raise Refused("input", f"No tool output found for function call {missing[0]}.")
