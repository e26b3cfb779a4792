"""The table of chat commands, bound by every adapter; the use cases are here or in core/features."""

from core.service.commands.table import Commands
from core.service.commands.threads import RunningQuestions
from core.work.commands import (
    Command,
    CommandCall,
    CommandResult,
    Option,
    OptionKind,
    Question,
    SourceRow,
    ThreadRow,
)

__all__ = [
    "Command",
    "CommandCall",
    "CommandResult",
    "Commands",
    "Option",
    "OptionKind",
    "Question",
    "RunningQuestions",
    "SourceRow",
    "ThreadRow",
]
