"""What a server takes of the protocol's optional parts: assumed at first, unlearned when it refuses one by name."""

from collections.abc import Mapping
from dataclasses import dataclass

# How servers say that they don't know a parameter, in contrast to a value that is too large.
_UNKNOWN_WORDS = (
    "unsupported", "not supported", "unrecognized", "unrecognised", "unknown", "extra inputs", "not permitted",
    "unexpected", "not allowed", "instead", "additional properties", "invalid parameter",
)  # fmt: skip
LENGTH_KEYS = ("max_completion_tokens", "max_tokens")


@dataclass(slots=True)
class Dialect:
    """One server's; `learn` changes it.

    Args:
        length_key: the parameter that bounds the answer; OpenAI's newer models take only the first of LENGTH_KEYS, most
            other servers only the second. None: neither.
        stream_usage: whether `stream_options` may ask for the tokens of a streamed reply.
        forced_choice: whether `tool_choice` may be "required" or "none".
        strict_schema: whether `response_format` may say `strict`.
        thoughts: whether a model's thoughts may be sent back with the calls they led to; some vendors insist on them.
    """

    length_key: str | None
    stream_usage: bool = True
    forced_choice: bool = True
    strict_schema: bool = True
    thoughts: bool = True
    _swapped: bool = False

    def learn(self, refusal: str, sent: Mapping[str, object]) -> bool:
        """Whether a refused request is worth repeating in what is known of the server's dialect now.

        `sent` are the parameters that were refused: another request may have learned the same meanwhile.
        """
        said = refusal.lower()
        if "stream_options" in sent and "stream_options" in said:
            self.stream_usage = False
            return True
        if "tool_choice" in sent and "tool_choice" in said:
            self.forced_choice = False
            return True
        if not any(word in said for word in _UNKNOWN_WORDS):
            return False
        if self.strict_schema and "response_format" in sent and "strict" in said:
            self.strict_schema = False
            return True
        if self.thoughts and "reasoning" in said:
            self.thoughts = False
            return True
        key = next((key for key in LENGTH_KEYS if key in sent), None)
        if key is None or key not in said:
            return False
        if key == self.length_key:
            other = next(other for other in LENGTH_KEYS if other != key)
            self.length_key, self._swapped = (None if self._swapped else other), True
        return True
