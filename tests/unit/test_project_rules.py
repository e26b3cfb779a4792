"""The house rules that no other tool checks: locks, the version, file sizes, assertions, licence and changelog."""

import ast
import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import typer.main
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bot.cli.app import app
from bot.config import load_config

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LONGEST_FILE = 500  # lines
LONGEST_TEST_FILE = 500  # lines: a table of cases is read case by case
LONGEST_FUNCTION = 60  # lines
SERVICE = PROJECT["project"]["dependencies"]
EXTRAS = [line for lines in PROJECT["project"].get("optional-dependencies", {}).values() for line in lines]
GROUPS = PROJECT["dependency-groups"]
RUNTIME = SERVICE + GROUPS["build"]
LOCKS = {
    "requirements.lock": RUNTIME + GROUPS["dev"],
    "requirements-runtime.lock": RUNTIME,
    "requirements-service.lock": RUNTIME + EXTRAS,
    "requirements-bench.lock": RUNTIME + GROUPS["dev"] + GROUPS["bench"] + GROUPS["pictures"],
}
# Written by people: generated migrations and recorded data are not held to the limits.
MODULES = sorted(
    path
    for folder in ("bot", "core", "storage", "tests")
    for path in (ROOT / folder).rglob("*.py")
    if "migrations/versions" not in path.as_posix()
)


def locked_versions(name: str) -> dict[str, list[str]]:
    """Pinned versions by package; more than one where markers choose between them."""
    pins: dict[str, list[str]] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if found := re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)", line):
            pins.setdefault(canonicalize_name(found[1]), []).append(found[2])
    return pins


@pytest.mark.parametrize(("lock", "wanted"), LOCKS.items(), ids=LOCKS)
def test_every_requirement_of_pyproject_is_met_by_the_lock(lock: str, wanted: list[str]) -> None:
    pins = locked_versions(lock)
    unmet = [
        text
        for text in wanted
        if not any(
            Requirement(text).specifier.contains(pin) for pin in pins.get(canonicalize_name(Requirement(text).name), [])
        )
    ]
    assert not unmet, f"{lock} does not answer pyproject.toml: run `make lock`"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_of_the_lock_has_a_hash(lock: str) -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / lock).read_text(encoding="utf-8"))
    assert [entry for entry in entries if "==" in entry.split("\n")[0] and "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_holds_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r"\w+://\S*|--(?:extra-)?index-url|--find-links|--trusted-host|\S+\.(?:org|com|io)\b", text) == []


def test_the_smaller_locks_pin_the_same_versions_as_the_main_one() -> None:
    main, bench = locked_versions("requirements.lock"), locked_versions("requirements-bench.lock")
    for smaller in ("requirements-runtime.lock", "requirements-service.lock"):
        assert {name: pins for name, pins in locked_versions(smaller).items() if main.get(name) != pins} == {}
    assert {name: bench.get(name) for name, pins in main.items() if bench.get(name) != pins} == {}


def test_the_demo_installs_no_development_tool() -> None:
    tools = {canonicalize_name(Requirement(line).name) for line in GROUPS["dev"]}
    service = {canonicalize_name(Requirement(line).name) for line in SERVICE}
    allowed = {"packaging"}  # hatchling needs it
    assert set(locked_versions("requirements-runtime.lock")) & tools - service == allowed


def test_the_version_stands_in_pyproject_alone() -> None:
    number = PROJECT["project"]["version"]
    assert version("footnote") == number
    assert [path for path in MODULES if re.search(r"__version__\s*=\s*[\"']\d", path.read_text(encoding="utf-8"))] == []


def test_the_changelog_has_an_entry_for_this_version_or_the_next_one() -> None:
    titles = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert titles
    assert titles[0] in {"Unreleased", PROJECT["project"]["version"]}


def test_the_licence_is_the_whole_of_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PROJECT["project"]["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_and_no_function_is_too_long(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    limit = LONGEST_TEST_FILE if path.is_relative_to(ROOT / "tests") else LONGEST_FILE
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    too_long = [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION]
    assert source.count("\n") <= limit
    assert too_long == []


def is_assertion(node: ast.AST) -> bool:
    """`assert`, or `pytest.raises` and `pytest.warns`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("raises", "warns")
    return isinstance(node, ast.Assert)


def test_every_test_says_in_its_own_body_what_has_to_be() -> None:
    """What helpers alone assert nobody sees: they give what they saw, or what is wrong, and the test asserts."""
    silent = [
        f"{path.name}: {node.name}"
        for path in MODULES
        if path.is_relative_to(ROOT / "tests")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if not any(map(is_assertion, ast.walk(node)))
    ]
    assert silent == []


def test_every_file_that_a_text_names_is_there() -> None:
    """By its path from the root: whoever moves a module takes along what is written about it."""
    named = re.compile(r"(?<![\w/.-])(?:bot|core|storage|tests)/[\w/]+\.py\b")
    texts = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "tests/README.md",
        *(ROOT / "docs").rglob("*.md"),
        *MODULES,
    ]
    gone = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in texts
        for name in named.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]
    assert gone == []


def test_every_package_folder_has_an_init_file() -> None:
    assert {path.parent for path in MODULES if not (path.parent / "__init__.py").exists()} == set()


def test_every_dependency_is_explained() -> None:
    text = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8").lower()
    names = [Requirement(line).name.lower() for line in RUNTIME + EXTRAS + GROUPS["dev"] + GROUPS["bench"]]
    assert [name for name in names if f"| {name} |" not in text] == []


def test_checks_need_no_network() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    assert {hook["language"] for repo in config["repos"] for hook in repo["hooks"]} == {"system"}


def test_bandit_runs_over_the_product_and_what_it_leaves_out_is_explained() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    [entry] = [hook["entry"] for repo in config["repos"] for hook in repo["hooks"] if "bandit" in hook["entry"]]
    assert entry.endswith("--configfile pyproject.toml --recursive bot core storage")
    lines = [line for path in MODULES if "tests" not in path.parts for line in path.read_text("utf-8").splitlines()]
    reasons = [re.search(r"# nosec B\d{3}  # (noqa: S\d{3} - )?\w+\S* \w+", line) for line in lines if "nosec" in line]
    assert reasons
    assert None not in reasons
    explained = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    left_out = {*PROJECT["tool"]["bandit"]["skips"], *re.findall(r"nosec (B\d{3})", "\n".join(lines))}
    assert {rule for rule in left_out if rule not in explained} == set()


def test_every_make_target_is_named_by_help() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony is not None
    shown = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {target for target in phony[1].split() if f"make {target} " not in shown} == {"help"}


def test_ci_runs_the_same_targets_as_people() -> None:
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & 0o111
    targets = re.findall(r"^make (\S+)(?: COVERAGE=yes)?$", script.read_text(encoding="utf-8"), re.MULTILINE)
    assert targets == ["check", "test"]


def test_workflows_run_scripts_that_are_there() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / ".github/workflows").glob("*.yml"))]
    scripts = {script for text in texts for script in re.findall(r"(?<=\s)\.ci/\w+", text)}
    assert [list(yaml.safe_load(text)["jobs"]) for text in texts] == [
        ["audit"],
        ["image"],
        ["tests"],
        ["try", "release"],
    ]
    assert scripts == {".ci/image", ".ci/run", ".ci/wheel"}
    assert [script for script in scripts if not (ROOT / script).stat().st_mode & 0o111] == []


def test_the_wheel_is_tried_on_every_supported_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/wheel.yml").read_text(encoding="utf-8"))
    supported = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    oldest, end = re.findall(r"3\.(\d+)", PROJECT["project"]["requires-python"])
    assert workflow["jobs"]["try"]["strategy"]["matrix"]["python"] == supported
    assert supported == [f"3.{minor}" for minor in range(int(oldest), int(end))]


def test_the_readme_names_every_command_and_no_other() -> None:
    table = re.search(
        r"^## Commands\n(.+?)^## ", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert table is not None
    cells = [line.split("|")[1] for line in table[1].splitlines() if line.startswith("| `")]
    named = {found for cell in cells for found in re.findall(r"`(?:footnote )?([a-z]+)[^`]*`", cell)}
    named -= {"batch"}
    assert named == set(typer.main.get_group(app).list_commands(typer.Context(typer.main.get_command(app))))


def test_compose_runs_the_qdrant_that_the_locked_client_is_made_for() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    server = compose["services"]["qdrant"]["image"].partition(":v")[2]
    [client] = locked_versions("requirements.lock")["qdrant-client"]
    assert server.split(".")[:2] == client.split(".")[:2]


def test_the_image_copies_only_what_is_there() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [
        name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE) for name in line.split()
    ]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert "\nUSER footnote\n" in dockerfile


def test_compose_sets_what_the_configuration_knows_and_uses_what_it_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    services = composed["services"]
    given = {name: str(value or "") for name, value in services["footnote"]["environment"].items()}
    for name, value in given.items():
        monkeypatch.setenv(name, re.sub(r"\$\{\w+:\?[^}]+\}", "0123456789abcdefghijklmnopqrstuvwxyz", value))
    config = load_config(None, data_dir=tmp_path)

    assert (config.index.url, config.web.open_to_network) == ("http://qdrant:6333", True)
    assert config.database_url() is not None
    assert config.web_key() is not None
    assert services["worker"]["environment"] == services["footnote"]["environment"]
    published = services["footnote"]["ports"]
    assert published == [f"127.0.0.1:{config.web.port}:{config.web.port}"]
    mounted = {volume.partition(":")[0] for service in services.values() for volume in service["volumes"]}
    assert {name for name in mounted if not name.startswith(".")} == set(composed["volumes"])


def test_no_file_names_a_package_registry_or_a_path_of_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    forbidden = re.compile(
        rb"py" rb"pi\.org|python" rb"hosted|npm" rb"js\.|deb" rb"ian\.org|/ro" rb"ot/|/Use" rb"rs/[a-z]"
    )
    files = [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    assert len(files) > len(LOCKS)
    assert [path for path in files if path != Path(__file__) and forbidden.search(path.read_bytes())] == []
