"""The picture of an answer in the terminal: `python -m tests.pictures.terminal [FOLDER]`, from the sample library."""

import asyncio
import re
import sys
import tempfile
from importlib.resources import files
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from bot.cli.demo import load_examples
from bot.cli.questions import question_message
from bot.config import Config
from bot.terminal.render import answer_view
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer
from core.work.progress import SilentProgress

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
WIDTH = 92  # characters
# Without the fonts that rich would have a browser fetch.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace("Fira Code", "monospace")


async def answered(question: str, data_dir: Path) -> Answer:
    """As `footnote ask` has it over the sample library."""
    folder = Path(str(files("bot") / "sample_library" / "documents"))
    async with open_parts(Config(data_dir=data_dir)) as app:
        await app.ingests.add(
            [folder], app.workspace, source="sample library", kind="auto", force=False, progress=lambda done: None
        )
        return await build_pipeline(app).answer(question_message(app.workspace, question), SilentProgress())


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    question = load_examples()[0].question
    with tempfile.TemporaryDirectory() as place:
        answer = asyncio.run(answered(question, Path(place)))
    console = Console(width=WIDTH, record=True, file=StringIO(), force_terminal=True)
    console.print(f'[bold]$ footnote ask[/bold] [green]"{question}"[/green]\n')
    console.print(answer_view(answer))
    picture = console.export_svg(title="footnote ask", code_format=FORMAT, unique_id="terminal")
    (folder / "answer-in-the-terminal.svg").write_text("\n".join(line.rstrip() for line in picture.splitlines()) + "\n")


if __name__ == "__main__":
    main()
