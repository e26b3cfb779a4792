"""What can be a question at all. Pure."""

from core.errors import BadInput

# A question is read by people: longer ones are pasted documents, which belong in the library.
MAX_QUESTION_CHARACTERS = 20_000


def check_question(text: str) -> None:
    """Raises BadInput for what can't be a question: nothing to read in it, or far too much."""
    if not any(character.isalnum() for character in text):
        raise BadInput("The question is empty: write what you want to know.")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise BadInput(
            f"The question has {len(text):,} characters, more than the {MAX_QUESTION_CHARACTERS:,} allowed: "
            "put long texts into the library and ask about them."
        )
