"""What of a conversation goes into the prompt: one strategy a module, turns as they all know them in turns.py."""

from core.context.full_history import DEFAULT_MAX_MESSAGES as DEFAULT_MAX_MESSAGES
from core.context.full_history import FullHistoryCapped as FullHistoryCapped
from core.context.rolling_summary import RollingSummary as RollingSummary
from core.context.summarising import LineSummariser as LineSummariser
from core.context.summarising import Summariser as Summariser
from core.context.token_window import TokenWindow as TokenWindow
from core.context.turns import BYTES_PER_TOKEN as BYTES_PER_TOKEN
from core.context.turns import WITHDRAWN as WITHDRAWN
from core.context.turns import estimate_tokens as estimate_tokens
