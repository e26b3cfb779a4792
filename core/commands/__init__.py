"""The one command table: what people can do beside asking. Adapters bind it; the use cases are here."""

from core.commands.base import (
    Command,
    CommandCall,
    CommandResult,
    Option,
    OptionKind,
    Question,
    SourceRow,
    ThreadRow,
)
from core.commands.running import RunningQuestions, ServiceQuestions
from core.commands.table import Commands

__all__ = [
    "Command",
    "CommandCall",
    "CommandResult",
    "Commands",
    "Option",
    "OptionKind",
    "Question",
    "RunningQuestions",
    "ServiceQuestions",
    "SourceRow",
    "ThreadRow",
]
