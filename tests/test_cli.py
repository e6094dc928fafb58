from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from commandline import ROOT, run

from distgen import __version__
from distgen.cli import cli, main
from distgen.explanations import EXPLANATIONS

BETA = (ROOT / "tests" / "golden" / "good" / "plain" / "beta.yaml").read_text()
NORMAL = (ROOT / "tests" / "golden" / "good" / "methods" / "normal.yaml").read_text()
HEAVY = {"jax", "jaxlib", "distrax", "tensorflow_probability", "numpy", "chex"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one spec, which is the working directory."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "beta.yaml").write_text(BETA)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def distgen(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)], prog_name="distgen", catch_exceptions=False)


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    files = (file for file in directory.rglob("*") if file.is_file())
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


def change_spec() -> None:
    spec = Path("specs/beta.yaml")
    spec.write_text(spec.read_text().replace("Beta distribution", "The beta distribution"))


def edit_output() -> None:
    with Path("generated/beta.py").open("a") as file:
        file.write("\n# mine\n")


class TestBuild:
    def test_writes_and_then_has_nothing_to_do(self, project: Path) -> None:
        first = distgen("build")
        assert (first.exit_code, first.stdout) == (0, "")
        assert re.fullmatch(r"1 class; files: \d+ created\.\n", first.stderr)
        before = contents(project)
        again = distgen("build")
        assert (again.exit_code, again.stdout) == (0, "")
        assert again.stderr == "Nothing to do: the output is current.\n"
        assert contents(project) == before

    def test_writes_what_changed(self, project: Path) -> None:
        distgen("build")
        change_spec()
        (project / "specs" / "normal.yaml").write_text(NORMAL)
        result = distgen("build")
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == "2 classes; files: 1 created, 2 updated.\n"
        (project / "specs" / "normal.yaml").unlink()
        assert distgen("build").stderr == "1 class; files: 1 updated, 1 removed.\n"

    def test_check_of_current_output(self, project: Path) -> None:
        distgen("build")
        result = distgen("build", "--check")
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == "Nothing to do: the output is current.\n"

    def test_check_of_drift(self, project: Path) -> None:
        distgen("build")
        change_spec()
        before = contents(project)
        result = distgen("build", "--check")
        assert result.exit_code == 1
        assert result.stdout.startswith("--- a/generated/beta.py\n+++ b/generated/beta.py\n@@ ")
        assert '+"""The beta distribution' in result.stdout
        assert result.stderr == "The output is not current: 1 file differs. Run `distgen build specs/`.\n"
        assert contents(project) == before

    def test_check_where_nothing_was_built(self, project: Path) -> None:
        result = distgen("build", "--check", "-o", "elsewhere")
        assert result.exit_code == 1
        assert "+++ b/elsewhere/beta.py" in result.stdout
        assert result.stderr.endswith("differ. Run `distgen build specs/ -o elsewhere`.\n")
        assert not Path("elsewhere").exists()

    def test_check_of_hand_edits_is_drift(self, project: Path) -> None:
        distgen("build")
        edit_output()
        before = contents(project)
        result = distgen("build", "--check")
        assert result.exit_code == 1
        assert "-# mine\n" in result.stdout
        assert "generated/beta.py:1:1: warning[DG501]" in result.stderr
        assert "The output is not current: 1 file differs." in result.stderr
        assert contents(project) == before

    def test_diff(self, project: Path) -> None:
        distgen("build")
        edit_output()
        before = contents(project)
        result = distgen("build", "--diff")
        assert result.exit_code == 0
        assert "-# mine\n" in result.stdout
        assert result.stderr.endswith("1 class; files: 1 to update.\n")
        assert contents(project) == before

    def test_the_diff_is_a_patch(self, project: Path) -> None:
        distgen("build")
        change_spec()
        patch = distgen("build", "--diff").stdout
        subprocess.run(["git", "apply", "--check", "-"], input=patch, text=True, check=True)

    def test_dry_run(self, project: Path) -> None:
        result = distgen("build", "--dry-run")
        assert result.exit_code == 0
        assert "create\tbeta.py\n" in result.stdout
        assert result.stderr.endswith(" to create.\n")
        assert not Path("generated").exists()

    def test_hand_edits_are_refused_unless_forced(self, project: Path) -> None:
        distgen("build")
        edit_output()
        before = contents(project)
        for arguments in ([], ["--dry-run"]):
            refused = distgen("build", *arguments)
            assert (refused.exit_code, refused.stdout) == (2, "")
            assert "error[DG501]" in refused.stderr
            assert "--force" in refused.stderr
        assert contents(project) == before
        forced = distgen("build", "--force")
        assert (forced.exit_code, forced.stderr) == (0, "1 class; files: 1 updated.\n")
        assert "# mine" not in Path("generated/beta.py").read_text()

    @pytest.mark.parametrize(
        "options", [("--check", "--diff"), ("--diff", "--dry-run"), ("--check", "--dry-run")]
    )
    def test_previews_exclude_each_other(self, options: tuple[str, ...], project: Path) -> None:
        result = distgen("build", *options)
        assert result.exit_code == 2
        assert "exclude each other" in result.stderr

    def test_a_write_that_fails(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("distgen.publish.writing._write", refuse)
        result = distgen("build", "--format", "json")
        assert result.exit_code == 2
        assert [d["code"] for d in json.loads(result.stdout)["diagnostics"]] == ["DG503"]
        assert not Path("generated/beta.py").exists()


class TestMistakes:
    def test_nothing_is_written(self, project: Path) -> None:
        (project / "specs" / "normal.yaml").write_text(NORMAL.replace("real,", "rael,"))
        result = distgen("build")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("specs/normal.yaml:6:21: error[DG203]: unknown constraint 'rael'\n")
        assert "did you mean 'real'?" in result.stderr
        assert not Path("generated").exists()

    def test_what_was_there_stays(self, project: Path) -> None:
        distgen("build")
        before = contents(project / "generated")
        (project / "specs" / "beta.yaml").write_text("- 1\n")
        for option in ("--force", "--check", "--diff", "--dry-run"):
            assert distgen("build", option).exit_code == 2
        assert contents(project / "generated") == before

    @pytest.mark.parametrize("path", ["nowhere", "nowhere/beta.yaml", "specs/beta.yaml/more"])
    def test_no_such_path(self, path: str, project: Path) -> None:
        result = distgen("build", path)
        assert result.exit_code == 2
        assert f"error[DG109]: '{path}' does not exist" in result.stderr

    def test_paths_that_cannot_be_read(self, project: Path) -> None:
        os.mkfifo("pipe.yaml")
        result = distgen("build", "pipe.yaml", "x" * 5000, "specs")
        assert result.exit_code == 2
        assert "pipe.yaml:1:1: error[DG101]: cannot be read: it is not a regular file" in result.stderr
        assert "error[DG101]: cannot be read: File name too long" in result.stderr

    def test_two_specs_outside_of_the_project_by_one_name(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("here", "first", "second"):
            Path(name).mkdir()
        Path("first/x.yaml").write_text(BETA)
        Path("second/x.yaml").write_text(NORMAL)
        monkeypatch.chdir("here")
        result = distgen("build", "../first/x.yaml", "../second/x.yaml", "../first/x.yaml")
        assert result.exit_code == 2
        assert result.stderr.count("error[DG110]") == 1

    def test_a_spec_named_twice_is_one(self, project: Path) -> None:
        result = distgen("build", "specs", "specs/beta.yaml", "./specs/../specs", project / "specs")
        assert (result.exit_code, result.stderr[:8]) == (0, "1 class;")

    def test_hidden_files_are_no_specs(self, project: Path) -> None:
        Path(".github").mkdir()
        Path(".github/workflow.yaml").write_text("on: push\n")
        Path(".pre-commit-config.yaml").write_text("repos: []\n")
        assert distgen("build", ".").exit_code == 0

    def test_distrax_is_missing(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("distgen.catalog.fingerprint", lambda: None)
        result = distgen("build")
        assert result.exit_code == 2
        assert result.stderr == "error[DG301]: distrax is not installed\n    = hint: pip install distrax\n"


class TestFormats:
    def test_json(self, project: Path) -> None:
        result = distgen("build", "--format", "json")
        assert (result.exit_code, result.stderr) == (0, "")
        document = json.loads(result.stdout)
        assert document["classes"] == ["Beta"]
        assert {"path": "beta.py", "action": "create"} in document["changes"]
        assert document["diagnostics"] == []
        current = json.loads(distgen("build", "--format", "json").stdout)
        assert current == {"classes": [], "changes": [], "diagnostics": []}

    def test_json_of_drift(self, project: Path) -> None:
        distgen("build")
        change_spec()
        result = distgen("build", "--format", "json", "--check")
        assert result.exit_code == 1
        assert json.loads(result.stdout)["changes"] == [{"path": "beta.py", "action": "update"}]

    def test_json_of_mistakes(self, project: Path) -> None:
        (project / "specs" / "beta.yaml").write_text(
            BETA.replace("constraint: positive", "constraint: positve", 1)
        )
        result = distgen("build", "--format", "json")
        assert (result.exit_code, result.stderr) == (2, "")
        assert json.loads(result.stdout)["diagnostics"] == [
            {
                "code": "DG203",
                "severity": "error",
                "message": "unknown constraint 'positve'",
                "hint": "did you mean 'positive'?",
                "path": "specs/beta.yaml",
                "line": 8,
                "column": 23,
                "end_column": 30,
            }
        ]

    def test_json_of_a_wrong_configuration(self, project: Path) -> None:
        Path("pyproject.toml").write_text("[tool.distgen]\noutputs = 'x'\n")
        result = distgen("build", "--format", "json")
        assert (result.exit_code, result.stderr) == (2, "")
        assert [d["code"] for d in json.loads(result.stdout)["diagnostics"]] == ["DG601"]

    def test_github(self, project: Path) -> None:
        (project / "specs" / "a,b: 100%.yaml").write_text(BETA.replace("positive", "positve", 1))
        result = distgen("build", "--format", "github")
        assert (result.exit_code, result.stderr) == (2, "")
        assert result.stdout.startswith(
            "::error file=specs/a%2Cb%3A 100%25.yaml,line=8,col=23,title=DG203::unknown"
        )

    def test_github_of_drift(self, project: Path) -> None:
        result = distgen("build", "--format", "github", "--check")
        assert (result.exit_code, result.stderr) == (1, "")
        assert "::error title=distgen::The output is not current: " in result.stdout

    @pytest.mark.parametrize("no_color", [False, True])
    def test_color_on_a_terminal(self, no_color: bool, project: Path) -> None:
        (project / "specs" / "beta.yaml").write_text("- 1\n")
        environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm"}
        environment.pop("NO_COLOR", None)
        if no_color:
            environment["NO_COLOR"] = "1"
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "distgen", "build"]
        process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=theirs, check=False)
        os.close(theirs)
        shown = os.read(ours, 10000).decode()
        os.close(ours)
        assert process.returncode == 2
        assert ("\x1b[31m" in shown) is not no_color
        assert "DG106" in shown


class TestLookups:
    def test_list(self, project: Path) -> None:
        (project / "specs" / "normal.yaml").write_text(NORMAL)
        result = distgen("list")
        assert result.exit_code == 0
        assert result.stdout == (
            "Beta\tdistrax.Beta\talpha, beta\tspecs/beta.yaml\n"
            "Normal\tdistrax.Normal\tloc, scale\tspecs/normal.yaml\n"
        )
        assert distgen("list", "specs/beta.yaml").stdout == result.stdout.splitlines(keepends=True)[0]

    def test_show_source(self, project: Path) -> None:
        distgen("build")
        result = distgen("show", "Beta")
        assert result.exit_code == 0
        assert Path("generated/beta.py").read_text().endswith(f"\n\n{result.stdout}")

    def test_show_spec(self, project: Path) -> None:
        result = distgen("show", "Beta", "--as", "spec", "--specs", "specs")
        assert json.loads(result.stdout)["wraps"] == "distrax.Beta"

    def test_show_plan(self, project: Path) -> None:
        result = distgen("show", "Beta", "--as", "plan")
        assert result.stdout.startswith("ClassPlan(name='Beta',")
        assert str(project) not in result.stdout

    @pytest.mark.parametrize(("name", "hint"), [("Betta", "did you mean 'Beta'?"), ("Q", "valid: Beta")])
    def test_show_of_an_unknown_class(self, name: str, hint: str, project: Path) -> None:
        result = distgen("show", name)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.endswith(f"Error: no spec describes a class '{name}'; {hint}\n")

    def test_mistakes_are_shown_by_all(self, project: Path) -> None:
        (project / "specs" / "beta.yaml").write_text("- 1\n")
        for command in (["list"], ["show", "Beta"]):
            result = distgen(*command)
            assert (result.exit_code, result.stdout) == (2, "")
            assert "error[DG106]" in result.stderr

    def test_explain(self) -> None:
        for code in ("DG203", "dg203"):
            result = distgen("explain", code)
            assert result.exit_code == 0
            assert result.stdout == f"DG203: {EXPLANATIONS['DG203']}\n"

    def test_explain_of_an_unknown_code(self) -> None:
        result = distgen("explain", "DG2O3")
        assert result.exit_code == 2
        assert "did you mean 'DG" in result.stderr

    def test_schema_is_the_committed_one(self) -> None:
        """If not: `distgen schema > specs/distgen.schema.json`."""
        assert distgen("schema").stdout == (ROOT / "specs" / "distgen.schema.json").read_text()

    def test_every_spec_names_the_schema(self) -> None:
        for spec in (ROOT / "specs").rglob("*.yaml"):
            line, _, _ = spec.read_text().partition("\n")
            schema = line.removeprefix("# yaml-language-server: $schema=")
            assert (spec.parent / schema).resolve() == ROOT / "specs" / "distgen.schema.json"

    def test_version(self) -> None:
        assert distgen("--version").stdout == f"distgen, version {__version__}\n"

    @pytest.mark.parametrize("command", ["", "build", "list", "show", "explain", "schema"])
    def test_help(self, command: str) -> None:
        result = distgen(*command.split(), "-h")
        assert result.exit_code == 0
        assert result.stdout.startswith(f"Usage: distgen {command}".rstrip())
        assert all(len(line) <= 100 for line in result.stdout.splitlines())


class TestConfiguration:
    def test_is_found_from_a_subdirectory(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("pyproject.toml").write_text('[tool.distgen]\nspecs = ["specs"]\noutput = "package/dists"\n')
        Path("deep/down").mkdir(parents=True)
        monkeypatch.chdir("deep/down")
        assert distgen("build").exit_code == 0
        assert "run `distgen build specs/`" in (project / "package/dists/beta.py").read_text()
        assert distgen("list").stdout.endswith("\tspecs/beta.yaml\n")
        monkeypatch.chdir(project)
        assert distgen("build", "--check").exit_code == 0
        assert distgen("build", "--check", "specs", "-o", "./package/../package/dists").exit_code == 0

    @pytest.mark.parametrize("command", [["build"], ["list"], ["show", "Beta"]])
    def test_a_wrong_one_stops_every_command(self, command: list[str], project: Path) -> None:
        Path("pyproject.toml").write_text("[tool.distgen]\noutputs = 'x'\n")
        result = distgen(*command)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "pyproject.toml:2:1: error[DG601]" in result.stderr


class TestProgram:
    def test_module(self, project: Path) -> None:
        done = run("--version", cwd=project)
        assert (done.returncode, done.stdout) == (0, f"distgen, version {__version__}\n")
        assert run("build", "--nonsense", cwd=project).returncode == 2

    def test_an_internal_error_is_a_short_message(
        self, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise ZeroDivisionError("a bug")

        monkeypatch.setattr("distgen.compiler.build", fail)
        monkeypatch.setattr(tempfile, "tempdir", str(project))
        with pytest.raises(SystemExit) as left:
            main(["build"])
        assert left.value.code == 70
        shown = capsys.readouterr()
        assert shown.out == ""
        first, second = shown.err.splitlines()
        assert first == "distgen: internal error: ZeroDivisionError: a bug"
        (log,) = project.glob("distgen-*.log")
        assert str(log) in second
        assert "Traceback" in log.read_text()

    def test_text_that_the_terminal_lacks(self, project: Path) -> None:
        (project / "specs" / "beta.yaml").write_text(
            BETA.replace("Johnson", "\U0001f3b2 Müller"), encoding="utf-8"
        )
        done = run("show", "Beta", cwd=project, env={"PYTHONIOENCODING": "latin-1"})
        assert done.returncode == 0, done.stderr
        assert "\\U0001f3b2 M" in done.stdout

    def test_imports(self, project: Path) -> None:
        """A build reads distrax, and never imports it; one with nothing to do imports next to nothing."""
        assert loaded("build") & HEAVY == set()
        unneeded = {"griffe", "jinja2", "pydantic", "rich", "yaml", "importlib.metadata"}
        assert loaded("build") & (HEAVY | unneeded) == set()
        assert loaded("list") & HEAVY == set()


def loaded(*arguments: str) -> set[str]:
    """The modules that a command has imported in the end."""
    code = f"""if True:
        import sys
        from distgen.cli import main
        try:
            main({list(arguments)!r})
        except SystemExit as left:
            assert not left.code
        print(*sys.modules, file=sys.stderr)
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())
