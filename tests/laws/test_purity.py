"""Light to use: the core works where torch, transformers, pyarrow and matplotlib cannot be imported."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from demur.asking import packaged

BLOCKED = ("torch", "transformers", "sentence_transformers", "matplotlib", "pyarrow", "sklearn", "pandas")


BLOCK = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""  # as if they were not installed: None in sys.modules would be a torch to scipy


def run(code: str) -> str:
    script = BLOCK + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_core_works_without_heavy_packages() -> None:
    out = run(
        """
        import demur
        pools = [demur.Pool.of("who baked the bread", ["the baker baked bread", "it rained"], [1, 0])]
        ranking = demur.ranker("bm25").rank(pools[0].question, pools[0].answers)
        report = demur.evaluate(demur.ranker("overlap"), pools, ["MAP", "P@1"])
        texts = ["The baker baked the bread.", "It rained all day."]
        answer = demur.ask("who baked the bread?", texts, "bm25")
        print(ranking.candidates[0].id, report.measures["MAP"].mean, type(answer).__name__)
        """
    )
    assert out.split() == ["0", "1.0", "Answer"]


@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
def test_mini_asks_without_heavy_packages() -> None:
    out = run(
        """
        import demur
        texts = ["The baker baked the bread.", "It rained all day."]
        print(demur.ask("who baked the bread?", texts, ranker="mini").confidence)
        """
    )
    assert 0 < float(out) < 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reproduce", "scarce", "table1", "--only", "lexical", "--cached"], "scarce table1"),
        (["reproduce", "risk", "table6", "--cached"], "risk table6"),
    ],
)
def test_tables_are_shown_without_heavy_packages(words: list[str], said: str) -> None:
    out = run(f"import sys\nfrom demur.cli.main import main\nsys.argv = {['demur', *words]!r}\nmain()")
    assert said in out


def test_importing_demur_imports_nothing_heavy() -> None:
    out = run(
        "import sys, demur\nprint([m for m in ('numpy', 'scipy', 'rich', 'typer') if m in sys.modules])"
    )
    assert out.strip() == "[]"


@pytest.mark.parametrize("words", [["--help"], ["ask", "--help"], ["data", "--help"]])
def test_help_imports_the_command_line_and_no_more(words: list[str]) -> None:
    """What makes it quick; `make bench` says how quick."""
    code = f"""
    import sys
    sys.argv = {["demur", *words]!r}
    from demur.cli.main import main
    try:
        main()
    except SystemExit as done:
        assert done.code == 0
    ours = {{name for name in sys.modules if name.startswith("demur.")}}
    more = {{name for name in ours if not name.startswith("demur.cli")}}
    more -= {{"demur.errors", "demur.processor"}}
    print("MORE", sorted(more | {{"numpy", "scipy", "rich.console", "onnxruntime"}} & set(sys.modules)))
    """
    assert run(code).splitlines()[-1] == "MORE []"


@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
def test_a_server_is_ready_and_answers_without_scipy() -> None:
    """Its import takes long; only making a gate, and checking one, needs it."""
    out = run(
        """
        import sys
        from demur.serving.app import create_app
        from demur.serving.example import opened
        from demur.serving.paths.reranking import relevance
        service = opened(None, None, None, None, "english", 0.2)
        create_app(lambda: service)
        found = service.ask("How long may I keep a drill?")
        relevance(service.given.rank("who?", ["Ada did."]).scores[0])
        service.close()
        print(type(found).__name__, "scipy.special" in sys.modules)
        """
    )
    assert out.split() in (["Answer", "False"], ["Abstention", "False"])
