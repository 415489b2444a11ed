"""The `demur` command: its verbs, and the one place where errors become one line and an exit code."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from demur import __version__, processor
from demur.cli import data
from demur.cli.asking import kb
from demur.cli.asking.ask import ask
from demur.cli.console import one_line
from demur.cli.evaluation.advise import advise
from demur.cli.evaluation.compare import compare
from demur.cli.evaluation.evaluate import evaluate
from demur.cli.evaluation.plot import plot
from demur.cli.experiments.reproduce import reproduce
from demur.cli.ranking.rank import rank
from demur.cli.ranking.score import score
from demur.cli.risk.calibrate import calibrate
from demur.cli.serving.mcp import mcp
from demur.cli.serving.serve import serve
from demur.cli.training import vectors
from demur.cli.training.export import export
from demur.cli.training.train import train
from demur.errors import DemurError, UsageError

FAILED, MISUSED = 1, 2
_FIXES = {
    errno.ENAMETOOLONG: "; take a shorter name",
    errno.ENOSPC: "; free space, or write elsewhere",
}
_NUMBERS = "int_parsing", "float_parsing", "greater_than_equal", "less_than_equal"


class WrongValue(typer.BadParameter):
    """A value that an option does not take."""

    def show(self, file: Any = None) -> None:
        """Say so in one line, as all that is wrong."""
        sys.stderr.write(f"demur: {one_line(self.message)}\n")


_Misuse: Any = typer.BadParameter.__base__  # an unknown option, too, and an argument that is missing


class Verbs(TyperGroup):
    """The verbs; a wrong option or value is said in one line, as all that is wrong."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the verb."""
        with _one_line_of(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        with _one_line_of(ctx):
            return super().invoke(ctx)


@contextmanager
def _one_line_of(ctx: Any) -> Iterator[None]:
    """A block in which misuse is one line: what is wrong, and where it is said what is right."""
    try:
        yield
    except _Misuse as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        told = error.format_message().rstrip(".")
        verb = error.ctx.command_path if error.ctx else f"{ctx.command_path} {ctx.invoked_subcommand or ''}"
        told = f"{told[:1].lower()}{told[1:]}; see {verb.strip()} --help"
        raise WrongValue(_needed(error) if type(error) is typer.BadParameter else told) from None


app = typer.Typer(
    name="demur",
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"demur {__version__}")
        raise typer.Exit


@app.callback()
def demur(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Rank candidate answers, quote the best one, and say nothing rather than something wrong."""


app.command()(ask)
app.command()(rank)
app.command()(score)
app.command()(evaluate)
app.command()(compare)
app.command()(train)
app.command()(export)
app.command()(calibrate)
app.command()(advise)
app.command()(serve)
app.command()(mcp)
app.command()(plot)
app.command()(reproduce)
app.add_typer(kb.app, name="kb")
app.add_typer(data.app, name="data")
app.add_typer(vectors.app, name="vectors")


class Closed(io.TextIOBase):
    """What stands in for a standard stream that was closed before we began, as `<&-` and `>&-` do."""

    def __init__(self, name: str) -> None:
        self.error = UsageError(f"standard {name} is closed; open it, or redirect it to a file")

    @property
    def buffer(self) -> io.BytesIO:
        """Nothing to read from."""
        raise self.error

    def read(self, size: int | None = -1) -> str:
        """Nothing can be read."""
        raise self.error

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        """Nothing can be read."""
        raise self.error

    def write(self, text: str) -> int:
        """Nothing can be written."""
        raise self.error


def main() -> None:
    """Run the command line: exit 0 when done, 1 when something failed, 2 when misused."""
    standing: Any = sys  # each of its streams is None where it was closed before
    standing.stdin, standing.stdout = sys.stdin or Closed("input"), sys.stdout or Closed("output")
    if sys.stderr is None:
        standing.stderr = io.StringIO()  # which nobody reads
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")  # what goes into files and pipes is UTF-8 everywhere
    try:
        processor.threads()  # or it says what is wrong with DEMUR_THREADS
        app()
    except DemurError as error:
        sys.stderr.write(f"demur: {one_line(str(error))}\n")
        sys.exit(MISUSED)
    except PermissionError as error:
        what = one_line(f"{error.filename or 'a file'}: may not be read or written; change its permissions")
        sys.stderr.write(f"demur: {what}\n")
        sys.exit(MISUSED)
    except FileExistsError as error:
        what = one_line(f"{error.filename or 'a file'}: is there already; move it away, or name another")
        sys.stderr.write(f"demur: {what}\n")
        sys.exit(MISUSED)
    except OSError as error:  # a full disk behind stdout, say: not our bug, and no traceback
        if isinstance(error, FileNotFoundError) and not _somewhere():
            sys.stderr.write("demur: the folder you are in is gone; change to another\n")
            sys.exit(MISUSED)
        fix = _FIXES.get(error.errno or 0, "")
        what = one_line(f"{error.strerror or error}: {error.filename or 'the output'}{fix}")
        sys.stderr.write(f"demur: {what}\n")
        sys.exit(MISUSED if fix else FAILED)
    except (MemoryError, RuntimeError) as error:
        if not _too_large(error):
            raise
        fix = "take smaller batches or nets, shorter texts, or a part of the data"
        sys.stderr.write(f"demur: there is not enough memory for this; {fix}\n")
        sys.exit(FAILED)


def _somewhere() -> bool:
    """Whether the folder one is in is there."""
    try:
        return Path.cwd().is_dir()
    except OSError:
        return False


def _needed(error: typer.BadParameter) -> str:
    """What an option takes whose value is no such number; of other values what typer says."""
    param: Any = error.param
    try:
        (found,) = error.__cause__.errors()  # type: ignore[union-attr]  # of pydantic, which reads the numbers
        kind, value, bounds = found["type"], found["input"], found.get("ctx", {}).values()
    except (AttributeError, ValueError, KeyError):
        return error.format_message()
    if kind not in _NUMBERS:
        return error.format_message()
    broken = "float" in kind or any(isinstance(each, float) for each in bounds)
    needed = "a number" if broken else "a whole number"
    least, most = getattr(param, "min", None), getattr(param, "max", None)
    if least is not None:
        needed += f" of {least:g} or more" if most is None else f" from {least:g} to {most:g}"
    such = f", such as {param.default:g}" if param.default is not None else ""
    return f"{param.opts[0]} {value} is not {needed}; write one{such}"


def _too_large(error: Exception) -> bool:
    """Whether memory was wanted that there is not; torch has no error of its own for it."""
    said = "allocate memory", "out of memory", "Storage size calculation overflowed"
    return isinstance(error, MemoryError) or any(each in str(error) for each in said)
