"""The wording that CONTRIBUTING asks for: plain words in docstrings and comments, imperative commit subjects."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES_SINCE = "006cc56"  # the last commit before these rules
LONGEST_SUBJECT = 72  # characters: most tools cut longer ones
# Words that hide the actor, or stand for a term of the field. Native prose has some of them, so the rate counts.
STILTED = re.compile(
    r"\b(?:alone|anew|any more|are gone|are said|are told|be told|beside|everybody|goe?s? on|is gone|is said|is told|"
    r"lies?|nobody|none where|nothing is|ours|says (?:how|so|that)|somebody|stands?|stood|there (?:are|is) none|"
    r"those (?:of|that|who)|was (?:said|told)|went on|what(?:ever)?|where (?:it|its|no|nothing|that|there|they)|"
    r"wherever|whichever|whoever)\b(?! for\b|-)",
    re.IGNORECASE,
)
MOST_IN_10_000_WORDS = 10.4
# Not "Fixes", "Fixed" or "Fixing"; "Pass", "Embed" and "Bring" are verbs of their own.
IMPERATIVE = re.compile(r"Bring|Embed|Feed|Speed|[A-Z]\w*(?<!ing)(?<!ed)(?<![^s]s)")


def texts(path: Path) -> Iterator[str]:
    """The docstrings and comments of a module."""
    source = path.read_text(encoding="utf-8")
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (ast.get_docstring(node) for node in ast.walk(ast.parse(source)) if isinstance(node, kinds))
    yield from (text for text in found if text)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    yield from (token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)


def test_docstrings_and_comments_use_plain_words() -> None:
    modules = [path for top in ("bot", "core", "storage") for path in (ROOT / top).rglob("*.py")]
    words, found = 0, []
    for path in modules:
        for text in texts(path):
            words += len(text.split())
            found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in STILTED.finditer(" ".join(text.split()))]
    assert len(found) * 10_000 / words <= MOST_IN_10_000_WORDS, "\n".join(found)


def faults_of(subject: str) -> list[str]:
    """What is wrong with a commit subject; empty if it is fine."""
    first = subject.split(" ", 1)[0]
    checks = {
        f"longer than {LONGEST_SUBJECT} characters": len(subject) > LONGEST_SUBJECT,
        "ends with a full stop": subject.endswith("."),
        "holds more than one thing": bool(re.search(r"[;:,—] ", subject)),
        "begins with no imperative verb": not IMPERATIVE.fullmatch(first),
    }
    return [fault for fault, is_wrong in checks.items() if is_wrong]


def test_commit_subjects_are_imperative_and_short() -> None:
    command = ["git", "log", "--no-merges", "--format=%s", f"{RULES_SINCE}..HEAD"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("this is no clone with the project's history")
    assert {subject: faults for subject in listed.stdout.splitlines() if (faults := faults_of(subject))} == {}


@pytest.mark.parametrize(
    ("subject", "faults"),
    [
        ("Fix startup race when creating the Qdrant collection", 0),
        ("Pass the scope to each tool", 0),
        ("Bring sources up to date", 0),
        ("Fixed a race.", 2),
        ("What hardly means anything else is a command; it was lost", 1),
        ("Add " + "x" * 80, 1),
        ("adds a reader, and a test", 2),
    ],
)
def test_faults_of_a_subject(subject: str, faults: int) -> None:
    assert len(faults_of(subject)) == faults
