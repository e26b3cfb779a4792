"""reStructuredText to docutils' document tree, with all switched off that reads files, runs code or tells the time."""

import re
from functools import cache
from typing import Any

from core.errors import ReadError

# Directives of docutils, Sphinx and its extensions that show nothing, or nothing that stands in this file.
_DROPPED = frozenset(
    "toctree index highlight currentmodule module py:module py:currentmodule tabularcolumns literalinclude automodule "
    "autoclass autofunction automethod autosummary autodata autoattribute graphviz digraph graph mermaid plantuml uml "
    "date meta title default-role class rst-class contents sectnum target-notes header footer raw include "
    "default-domain program testsetup testcleanup".split()
)
# Those whose content is code; docutils' own `code-block` refuses the options that Sphinx gives it.
_CODE = frozenset("code code-block sourcecode doctest testcode testoutput productionlist prompt ipython".split())
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_DIRECTIVE = re.compile(
    r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([A-Za-z][\w:.+-]{0,60}?)[ \t]?::(?:\s|$)", re.MULTILINE
)
_ROLE = re.compile(r":([A-Za-z][\w:.+-]{0,60}):`|`:([A-Za-z][\w:.+-]{0,60}):")
_TARGETED = re.compile(r"(.*\S)\s*<[^<>]*>", re.DOTALL)
# The header of a Python proposal, and of mail: names and values from the first line on.
_HEADER = re.compile(r"(?:[A-Z][\w-]{0,40}:[ \t][^\n]*\n(?:[ \t]+[^\n]*\S[^\n]*\n)*){2,}(?=\s*\n)")
_HEADER_NAME = re.compile(r"^(?=[A-Z][\w-]{0,40}: )", re.MULTILINE)
_SETTINGS: dict[str, object] = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "doctitle_xform": True,
    "sectsubtitle_xform": False,
    "embed_stylesheet": False,
    "line_length_limit": 1_000_000,
    "output_encoding": "unicode",
    "record_dependencies": None,
    "traceback": True,  # errors are raised, and not printed on the way to the end of the process
}


def parse(text: str) -> Any:
    """The document node. ReadError where it is nested too deeply or docutils can't read it."""
    from docutils.core import publish_doctree
    from docutils.utils import SystemMessage

    _teach(text)
    try:
        return publish_doctree(_with_fields(text), settings_overrides=dict(_SETTINGS))
    except RecursionError as error:
        raise ReadError("nested too deeply to be read") from error
    except SystemMessage as error:
        raise ReadError(f"broken reStructuredText: {error}") from error


def _with_fields(text: str) -> str:
    """A header of names and values at the front as a field list, which is what it is."""
    header = _HEADER.match(text)
    return _HEADER_NAME.sub(":", header[0]) + text[header.end() :] if header else text


def _teach(text: str) -> None:
    """Register stand-ins for the directives and roles that the text uses and docutils does not know or has to leave."""
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.languages import en

    for name in {match.lower() for match in _DIRECTIVE.findall(text)}:
        if name in _DROPPED or name in _CODE or name not in en.directives:
            directives.register_directive(name, _stand_in())
    defined, known = vars(roles)["_roles"], vars(roles)["_role_registry"]
    defined.clear()  # what another document has defined would stay for this one
    for pair in _ROLE.findall(text):
        name = (pair[0] or pair[1]).lower()
        if name not in en.roles and name not in known:
            roles.register_local_role(name, _plain_role)


# Directives of sphinxcontrib-httpdomain, whose names say what is done with the path behind them.
_HTTP = frozenset(f"http:{method}" for method in "get post put patch delete head options trace".split())


@cache
def _stand_in() -> type[Any]:
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives

    class AnyOption(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            return directives.unchanged

    class StandIn(Directive):
        """Shows what a directive that nobody knows holds: its arguments and its content."""

        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = AnyOption(name=directives.unchanged)

        def run(self) -> list[nodes.Node]:
            name = self.name.lower()
            argument = self.arguments[0] if self.arguments else ""
            if name in _DROPPED:
                return []
            if name in _CODE:
                code = "\n".join(self.content)
                return [nodes.literal_block(code, code, language=argument)]
            shown = nodes.container()
            if name in _VERSIONS:
                shown += nodes.paragraph(
                    argument, "", *self.state.inline_text(_version(name, argument), self.lineno)[0]
                )
            elif argument:
                method = name.removeprefix("http:").upper() + " " if name in _HTTP else ""
                shown += nodes.paragraph(argument, method + argument)
            self.state.nested_parse(self.content, self.content_offset, shown)
            return [shown]

    return StandIn


def _version(directive: str, argument: str) -> str:
    number, *said = argument.split(None, 1) or [""]
    return f"{_VERSIONS[directive]} {number}{f': {said[0]}' if said else ''}"


def _plain_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = ()
) -> tuple[list[Any], list[Any]]:
    """The words of a role that nobody knows: "title" of `title <target>`, "join" of `~os.path.join`."""
    from docutils import nodes, utils

    shown = utils.unescape(text)
    targeted = _TARGETED.fullmatch(shown)
    shown = targeted[1] if targeted else shown.lstrip("!")
    if shown.startswith("~"):
        shown = shown.rpartition(".")[2].lstrip("~")
    return [nodes.inline(rawtext, shown)], []
