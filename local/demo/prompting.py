"""What the demo prints of the prompts that E8 builds: three turns, and what of the last one the provider has cached."""

from __future__ import annotations

from typing import Any

from local.demo.conversation import Sample
from local.demo.terminal import WIDTH, fitted, heading, styled
from sdk.python.neve import Neve

MARK = 10
TURNS = (
    ("What should I bake for the tasting?", "A lemon tart: it needs no hazelnuts."),
    ("Write the shopping list.", "Lemons, butter, eggs, sugar, flour."),
    ("And when does my glaze workshop start?", ""),
)
LINES = 3
"""Of a part that are shown."""


def show_prompt(neve: Neve, user: str, sample: Sample) -> None:
    """Plays the first turns of today's conversation."""
    compiled = []
    with neve.user(user).session(sample.today) as session:
        for message, answer in TURNS:
            compiled.append(dict(session.context(message, instructions=["Answer in one sentence."]).raw))
            if answer:
                session.append([message, {"role": "assistant", "content": answer}])
    print(prompt(*compiled[-2:]))


def prompt(before: dict[str, Any], now: dict[str, Any]) -> str:
    """The second prompt part by part; ``cached`` is what the first one began with."""
    report = now["report"]
    known, lines = (
        prefix_of(before),
        [heading(f"The prompt of the next turn: {report['used']} of {report['limit']} tokens")],
    )
    for place, (role, text) in enumerate(parts_of(now)):
        is_known = place < len(known) and known[place] == (role, text)
        mark = styled(f"{'cached':{MARK}}", "green") if is_known else styled(f"{'new':{MARK}}", "yellow")
        shown = text.splitlines()
        for n, line in enumerate(shown[:LINES]):
            head = f"{mark}{role:10}" if n == 0 else " " * (MARK + 10)
            lines.append(f"{head}{fitted(line, WIDTH - MARK - 10).rstrip()}")
        if len(shown) > LINES:
            lines.append(" " * (MARK + 10) + styled(f"… {len(shown) - LINES} lines more", "dim"))
    lines.append("")
    for point in report["breakpoints"]:
        least = "cached from here" if point["cacheable"] else f"below the {point['minimum']} that are cached at all"
        lines.append(f"breakpoint behind {point['at']}: {point['tokens']} tokens, {least}")
    return "\n".join(lines)


def prefix_of(made: dict[str, Any]) -> list[tuple[str, str]]:
    """Everything before the user's last message."""
    return parts_of(made)[: -len(made["request"]["messages"][-1]["content"])]


def parts_of(made: dict[str, Any]) -> list[tuple[str, str]]:
    """(who, text) of every block, in the order of the prompt."""
    request = made["request"]
    found = [("system", block["text"]) for block in request.get("system", [])]
    return found + [(m["role"], _text(block)) for m in request["messages"] for block in m["content"]]


def _text(block: dict[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] == "tool_use":
        return f"[{block['name']} {block['input']}]"
    if block["type"] == "tool_result":
        return " ".join(_text(part) for part in block.get("content", []))
    return "[image]"
