"""The one command table: what people can do beside asking. Adapters bind it; the use cases are here."""

from core.service.commands.base import (
    Command,
    CommandCall,
    CommandResult,
    Option,
    OptionKind,
    Question,
    SourceRow,
    ThreadRow,
)
from core.service.commands.running import RunningQuestions, ServiceQuestions
from core.service.commands.table import Commands

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
