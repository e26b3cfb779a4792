"""The picture of the packages in docs/architecture.md, drawn from the imports.

`python -m tests.pictures.packages` writes it into the page; a unit test compares the two.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
TOPS = ("bot", "storage", "core")
BEGIN, END = "<!-- packages -->", "<!-- /packages -->"


def package_imports() -> dict[str, set[str]]:
    """Return package -> the packages that it imports, both as `core.answering`."""
    graph = grimp.build_graph(*TOPS, cache_dir=None)
    packages = {name for top in TOPS for name in graph.find_children(top)}
    packages = {name for name in packages if graph.find_children(name) or name.startswith("core.")}
    found: dict[str, set[str]] = {name: set() for name in packages}
    for module in graph.modules:
        importer = ".".join(module.split(".")[:2])
        for imported in graph.find_modules_directly_imported_by(module):
            target = ".".join(imported.split(".")[:2])
            if importer in found and target in found and importer != target:
                found[importer].add(target)
    return found


def without_shortcuts(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the imports without those that follow from two others: a picture of each would be a thicket."""

    def reached(starts: Iterable[str]) -> set[str]:
        seen: set[str] = set()
        left = [*starts]
        while left:
            for target in imports[left.pop()] - seen:
                seen.add(target)
                left.append(target)
        return seen

    return {name: {to for to in targets if to not in reached(targets - {to})} for name, targets in imports.items()}


def draw(imports: Mapping[str, set[str]]) -> str:
    """Return a Mermaid flowchart, the same text for the same imports."""
    lines = ["```mermaid", "flowchart TD"]
    for top in TOPS:
        nodes = "; ".join(name for name in sorted(imports) if name.startswith(f"{top}."))
        lines += [f"  subgraph {top}", f"    {nodes}", "  end"]
    lines += [f"  {name} --> {' & '.join(sorted(targets))}" for name, targets in sorted(imports.items()) if targets]
    return "\n".join([*lines, "```"])


def with_picture(page: str, picture: str) -> str:
    return re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{picture}\n{END}", page, flags=re.DOTALL)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_picture(text, draw(without_shortcuts(package_imports()))), encoding="utf-8")
