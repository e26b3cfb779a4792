"""What was typed -> a question, a command, or nothing. Pure."""

from dataclasses import dataclass

# For `footnote ask "/help"`: what begins like this is a command on every door.
NO_QUESTION = "A question that begins with / is a command: commands work inside `footnote chat`."
LEAVE = frozenset({"quit", "exit", "/quit", "/exit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """One line: `leave`, a command with its argument, a question, or (all empty) nothing."""

    question: str = ""
    command: str = ""
    argument: str = ""
    leave: bool = False


def to_typed(line: str) -> Typed:
    text = line.strip()
    if text.lower() in LEAVE:
        return Typed(leave=True)
    if text.startswith("/"):
        name, _, argument = text[1:].partition(" ")
        return Typed(command=name.lower() or "help", argument=argument.strip())
    return Typed(question=text)
