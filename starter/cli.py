"""Orchestration: the `cutter` command: one table of commands, one translation of errors, one way out.

A module is imported when its command is called, so `cutter mark` does not pay for Temporal's client. The process ends
with a flush and `os._exit`: a Temporal client can abort while the interpreter exits, and the exit code would lie.
"""

from __future__ import annotations

import errno
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache, partial
from types import TracebackType
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from cutter import __version__, gpg
from cutter.errors import CutterError, InvalidInput
from starter.command_table import COMMANDS
from starter.console.failures import AS_JSON, Failure, failure, tell
from starter.console.terminal import EXIT_CODES, ExitCode, say, write

DEBUG = "--debug"
OF_THE_SYSTEM = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
"""Errors of the operating system that our code cannot mend: a file that this user may not use, or a full disk."""

BUG = "this is a bug in cutter: type the command again with --debug and report what it prints"


GROUPS = {
    "source": "Register documents and their pinned snapshots.",
    "law": "Read enacted law: its text on a day, its versions, and what changed.",
    "orchestrate": "Start and resume runs and batches.",
}
"""The help of groups that are made from names with a space."""


class Group(TyperGroup):
    """A group that suggests the command that the person probably meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        message, meant = f"no such command: {name}:", get_close_matches(name, self.list_commands(ctx), n=1)
        if not meant:
            raise InvalidInput(f"{message} see", then=f"{ctx.command_path} --help")
        command: Any = self.get_command(ctx, meant[0])
        wants_more = any(param.required for param in command.params)
        given = [shlex.quote(word) for word in args[1:] if word != AS_JSON]
        words = [ctx.command_path, meant[0], *(given or (["--help"] if wants_more else []))]
        raise InvalidInput(f"{message} did you mean", then=" ".join(words), rest="?")


class CommandTable(Group):
    """The rows below a prefix as a group that imports a command's module when it is asked for."""

    prefix = ""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the signature is typer's
        mine = [entry for entry in COMMANDS if entry.name.startswith(self.prefix)]
        return list(dict.fromkeys(entry.name.removeprefix(self.prefix).split(" ")[0] for entry in mine))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        return _built(self.prefix + cmd_name)


def main() -> NoReturn:
    """The console script: run, flush, end. Completion and --help leave by SystemExit, which has a code too."""
    try:
        code = run(sys.argv[1:])
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    _leave(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Every message to a person is printed here."""
    debug = DEBUG in arguments
    given = [argument for argument in arguments if argument != DEBUG]
    sys.excepthook = _show_trace if debug else partial(_show_bug, given)
    try:
        result = app().main(given or ["--help"], prog_name="cutter", standalone_mode=False)
    except typer.Exit as left:
        return left.exit_code
    except _told_errors() as problem:
        if debug:
            say(_trace(problem))
        return tell(_failure(problem, given), given)
    except OSError as problem:
        if problem.errno not in OF_THE_SYSTEM:
            raise
        where = f" {problem.filename}" if problem.filename else ""
        message = f"cannot use{where} ({problem.strerror}): correct that, or set CUTTER_STATE_DIR; "
        message += "`cutter doctor` shows more"
        return tell(Failure(code="UNAVAILABLE", message=message, exit_code=ExitCode.UNAVAILABLE), given)
    return result if isinstance(result, int) else int(ExitCode.DONE)


@cache
def app() -> Any:
    """The root command with its completion options."""
    made = typer.Typer(cls=CommandTable, context_settings={"help_option_names": ["-h", "--help"]})
    codes = ", ".join(f"{code} {meaning.partition(':')[0]}" for code, meaning in EXIT_CODES.items())
    made.callback(epilog=f"Exit codes: {codes}.")(_root)
    return _for_people(typer.main.get_command(made))


def _print_version(wanted: bool) -> None:
    if wanted:
        write(__version__)
        raise typer.Exit


def _root(
    show_version: bool = typer.Option(
        False, "-V", "--version", help="Print the version and end.", is_eager=True, callback=_print_version
    ),
    debug: bool = typer.Option(False, DEBUG, help="Show a traceback of an error; goes anywhere in the line."),
) -> None:
    """Cut laws into units, and enact them after people have signed."""


def _built(name: str) -> Any:
    """The command or group of one full name."""
    entry = next((entry for entry in COMMANDS if entry.name == name), None)
    if entry is None:
        table: type[CommandTable] = type(name, (CommandTable,), {"prefix": f"{name} "})
        group = typer.Typer(cls=table, no_args_is_help=True, add_completion=False, help=GROUPS[name])
        group.callback()(_nothing)
        made = _for_people(typer.main.get_command(group))
        made.name = name
        return made
    loaded = entry.load()
    if isinstance(loaded, typer.Typer):
        # A family of commands stays a group even if it has one command.
        family = loaded
        family.info.cls = Group
        if family.registered_callback is None:
            family.callback()(_nothing)
    else:
        family = typer.Typer(add_completion=False)
        family.command(name.split(" ")[-1])(loaded)
    command = _for_people(typer.main.get_command(family))
    command.name = name.split(" ")[-1]
    return command


def _for_people(command: Any) -> Any:
    """The command with help as wrapped lines, not in boxes: a box of 80 columns cuts the names of options, which then
    cannot be copied. The list of a group's commands has each one's first paragraph whole.

    No option takes a placeholder of a printed command.
    """
    command.rich_markup_mode = None
    command.short_help = " ".join((command.help or "").partition("\n\n")[0].split())
    refuse_in(command)
    for each in getattr(command, "commands", {}).values():
        _for_people(each)
    return command


def _nothing() -> None:
    pass


def _told_errors() -> tuple[type[BaseException], ...]:
    """Every error that is shown to a person as a sentence. Of libraries, those that this command has really loaded."""
    errors: list[type[BaseException]] = [KeyboardInterrupt, typer.Abort, *_usage_errors(), CutterError]
    if psycopg := sys.modules.get("psycopg"):
        errors.append(psycopg.OperationalError)
    if service := sys.modules.get("temporalio.service"):
        errors.append(service.RPCError)
    return tuple(errors)


def _usage_errors() -> tuple[type[Exception], ...]:
    """typer's own class of usage errors. It is found by its public member, because typer may bring its own click."""
    return tuple(kind for kind in typer.BadParameter.__mro__ if kind.__name__ in ("UsageError", "ClickException"))


_NOISE = "Value error, "
"""The library's words before a refused choice, which say nothing to a person."""


def _of_usage(problem: Any, arguments: Sequence[str]) -> InvalidInput:
    context = getattr(problem, "ctx", None)
    wrong, known = getattr(problem, "option_name", ""), getattr(problem, "possibilities", None)
    # Without the hyphens, which would make short names alike. typer names the options that begin alike; of `--wat`, the
    # nearest of them is meant.
    names = {option.lstrip("-"): option for option in known or ()}
    meant = get_close_matches(wrong.lstrip("-"), names, n=1)
    if meant:
        words = [
            names[meant[0]] + word.removeprefix(wrong) if word.partition("=")[0] == wrong else word
            for word in arguments
            if word != AS_JSON
        ]
        then = shlex.join(["cutter", *words])
        return InvalidInput(f"no such option: {wrong}: did you mean", then=then, rest="?")
    message = problem.format_message().replace(_NOISE, "", 1)
    if context is None:
        return InvalidInput(message)
    listed = f"{context.command_path} --help"
    return InvalidInput(f"{message} (see `{listed}`)").leads_to(listed)


def _failure(problem: BaseException, arguments: Sequence[str]) -> Failure:
    """The answer about an error to a person or a program."""
    if isinstance(problem, KeyboardInterrupt):
        look = "cutter status"
        message = f"interrupted; everything that was started continues: `{look}` shows it"
        return Failure(code="INTERRUPTED", message=message, exit_code=ExitCode.INTERRUPTED, next=look)
    if isinstance(problem, typer.Abort):
        return Failure(code="not_confirmed", message="stopped, nothing was done", exit_code=ExitCode.STOPPED)
    if isinstance(problem, _usage_errors()):
        problem = _of_usage(problem, arguments)
    if isinstance(problem, CutterError):
        return failure(problem, message=f"{problem}{_looked_in(getattr(problem, 'what', ''))}")
    # Temporal or the database's driver reported it.
    first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
    status = getattr(getattr(problem, "status", None), "name", "")
    if status == "NOT_FOUND":
        return Failure(code="NOT_FOUND", message=f"Temporal does not know it: {first}", exit_code=ExitCode.FAILED)
    part, what = ("Temporal", "temporal") if type(problem).__module__.startswith("temporalio") else (
        "the database", "database"
    )  # fmt: skip
    message = f"{part} does not answer ({first}): type `cutter doctor`{_looked_in(what)}"
    return Failure(code="UNAVAILABLE", message=message, exit_code=ExitCode.UNAVAILABLE)


def _looked_in(what: str) -> str:
    """The place where cutter looked for the local stack, because in another folder it looks in another place."""
    from cutter.settings import load
    from cutter.stack.addresses import looked_in

    try:
        return looked_in(load(), what)
    except CutterError:
        return ""


def _show_bug(
    arguments: Sequence[str], kind: type[BaseException], problem: BaseException, _: TracebackType | None
) -> None:
    """An unexpected error: one line for the person. With --debug they get the traceback."""
    message, again = f"{BUG} ({kind.__name__}: {problem})", " ".join(["cutter", *arguments, DEBUG])
    _leave(tell(Failure(code="BUG", message=message, exit_code=ExitCode.FAILED, next=again), arguments))


def _show_trace(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:  # noqa: ARG001
    """The traceback for --debug. Messages in it may come from others, so they are shown like any other text."""
    say(_trace(problem))
    _leave(ExitCode.FAILED)


def _trace(problem: BaseException) -> str:
    return "".join(traceback.format_exception(problem)).rstrip()


def _leave(code: int) -> NoReturn:
    gpg.remove_folders()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            code = code or ExitCode.FAILED
    os._exit(int(code))


_FILE, _REASON, _APPROVER = "a file of yours", "a reason in your own words", "a name and the file of its public key"
STANDS_FOR = {
    "TEXT": _REASON, "say why": _REASON, "DOCUMENT": "an id that you choose, such as ICX-LAW-2026-001",
    "PROFILE": "the name of a profile, or a YAML file", "FILE": _FILE, "QUEUE": _FILE, "NAME=KEY": _APPROVER,
    "NAME=KEY.asc": _APPROVER, "ID": "the id of a batch", "SHA256": "the digest of an approval",
    "URL": "the address of a database",
}  # fmt: skip
"""Each word that a printed command has in the place of a person's own, and what a person types instead."""

_WORDS_OF_A_LAW = "forbid"
"""The option whose value can be any word of a heading, so also one of these."""


def refuse_in(command: Any) -> None:
    """Make every option of the command refuse these words. An argument names what exists, and a law may be searched for
    one of them.
    """
    for option in command.params:
        if option.param_type_name == "option" and option.name != _WORDS_OF_A_LAW and option.callback is None:
            option.callback = _required_own


def _required_own(_: Any, option: Any, value: Any) -> Any:
    """The value of an option as it was given. Raises InvalidInput for a word that stands for something else."""
    for given in value if isinstance(value, list | tuple) else (value,):
        word = str(given).strip()
        if word in STANDS_FOR:
            raise InvalidInput(f"{option.opts[0]} {word}: this word stands for {STANDS_FOR[word]}; type that instead")
    return value


if __name__ == "__main__":
    main()
