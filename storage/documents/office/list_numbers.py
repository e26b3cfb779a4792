"""The numbers of lists as word processors write them: decimal, letters, Roman."""

# Letters of one number: the 27th item is "aa", the 53rd "aaa".
MAX_LETTERS = 60

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


def to_number(number: int, form: str) -> str:
    """A number as letters, Roman or decimal, whichever the list asks for."""
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, MAX_LETTERS)
        return letter.upper() if form == "upperLetter" else letter
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        return _to_roman(number).upper() if form == "upperRoman" else _to_roman(number)
    return "" if form == "none" else f"{number:02d}" if form == "decimalZero" else str(number)


def _to_roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        written += letters * count
    return written
