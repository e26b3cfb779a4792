"""The part of a conversation in the prompt: one strategy a module; turns.py holds the shared turns."""

from core.answering.context.full_history import DEFAULT_MAX_MESSAGES as DEFAULT_MAX_MESSAGES
from core.answering.context.full_history import FullHistoryCapped as FullHistoryCapped
from core.answering.context.rolling_summary import RollingSummary as RollingSummary
from core.answering.context.summarising import LineSummariser as LineSummariser
from core.answering.context.summarising import Summariser as Summariser
from core.answering.context.token_window import TokenWindow as TokenWindow
from core.answering.context.turns import BYTES_PER_TOKEN as BYTES_PER_TOKEN
from core.answering.context.turns import WITHDRAWN as WITHDRAWN
from core.answering.context.turns import estimate_tokens as estimate_tokens
