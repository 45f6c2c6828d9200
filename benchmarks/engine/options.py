"""The options of a benchmark: fields of a dataclass, from which the command line is made."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, NoReturn


def option(
    default: Any,
    description: str,
    *,
    flag: str | None = None,
    kind: type | None = None,
    metavar: str | None = None,
    bounds: tuple[float, float] | None = None,
) -> Any:
    """
    Declare an option as a field of a dataclass.

    Parameters
    ----------
    default
        False declares a flag without a value, () an option that may be given repeatedly.
    description
        For ``--help``.
    flag
        Name on the command line, or several names with spaces between; by default the name of the field.
    kind
        Type of the value; by default the type of `default`.
    metavar
        What ``--help`` writes in place of the value.
    bounds
        Least and largest number.
    """
    metadata = {
        "description": description,
        "flag": flag,
        "kind": kind or (str if default == () else type(default)),
        "metavar": metavar,
        "bounds": bounds,
    }
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Options:
    """
    The options that all benchmarks have. A benchmark adds its own in a subclass.

    Raises
    ------
    ValueError
        If a number is out of its bounds.
    """

    only: tuple[str, ...] = option(
        (), "Measure only this part: {parts}. May be given repeatedly.", metavar="PART"
    )
    quick: bool = option(False, "Measure less: {quick}")
    n_jobs: int = option(
        2, "Number of threads, for every method alike.", flag="--jobs", bounds=(1, float("inf"))
    )
    json_file: Path | None = option(
        None, "Also write the figures to this file.", flag="--json", kind=Path, metavar="FILE"
    )
    markdown_file: Path | None = option(
        None, "Also write the tables to this file.", flag="--markdown", kind=Path, metavar="FILE"
    )
    results: Path | None = option(
        None,
        "Where measurements are stored. Default: lann/benchmarks in scikit-learn's data home.",
        kind=Path,
        metavar="FOLDER",
    )
    fresh: bool = option(False, "Discard the stored measurements of this selection first.")

    def __post_init__(self) -> None:
        for declared in fields(self):
            value, bounds = getattr(self, declared.name), declared.metadata["bounds"]
            if bounds is not None and value is not None and not bounds[0] <= value <= bounds[1]:
                allowed = f"at least {bounds[0]:g}"
                if bounds[1] < float("inf"):
                    allowed = f"from {bounds[0]:g} to {bounds[1]:g}"
                raise ValueError(f"{_flags(declared)[0]} must be {allowed}; got {value}.")


class Parser(argparse.ArgumentParser):
    """A parser that raises ValueError where argparse prints the usage and exits."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.")


def parse_options(
    options: type[Options],
    arguments: list[str],
    *,
    command: str,
    description: str,
    omitted: Collection[str],
    texts: dict[str, str],
) -> Options:
    """
    Parse the command line of a benchmark.

    Parameters
    ----------
    options
        The class with the fields.
    arguments
        The command line after the name of the benchmark.
    command, description
        For ``--help``.
    omitted
        Names of fields that the benchmark does not have on the command line.
    texts
        Replacements in the descriptions of the fields.
    """
    parser = Parser(prog=command, description=description, allow_abbrev=False)
    for declared in fields(options):
        if declared.name not in omitted:
            _add(parser, declared, texts)
    given = vars(parser.parse_args(arguments))
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return options(**values)


def _add(parser: argparse.ArgumentParser, declared: Field[Any], texts: dict[str, str]) -> None:
    metadata, default = declared.metadata, declared.default
    text = metadata["description"]
    for name, replacement in texts.items():
        text = text.replace(f"{{{name}}}", replacement)
    has_default = default is not None and default is not False and default != ()
    if has_default and "default" not in text.lower():
        text += f" Default: {default}."
    settings: dict[str, Any] = {"dest": declared.name, "help": text.replace("%", "%%"), "default": default}
    if default is False:
        parser.add_argument(*_flags(declared), action="store_true", **settings)
        return
    if default == ():
        settings |= {"action": "append", "default": []}
    parser.add_argument(
        *_flags(declared), type=metadata["kind"], metavar=metadata["metavar"] or "N", **settings
    )


def _flags(declared: Field[Any]) -> list[str]:
    return (declared.metadata["flag"] or f"--{declared.name.replace('_', '-')}").split()


def choose(names: Iterable[str], available: Iterable[str], what: str, note: str = "") -> list[str]:
    """
    Return the available names that were given, or all if none was, in the order of the available ones.

    Parameters
    ----------
    names
        What the user gave.
    available
        What there is.
    what
        What the names stand for, such as "method", for the error message.
    note
        Added to the error message after the name.

    Raises
    ------
    ValueError
        If a name is not available.
    """
    known, given = list(available), list(names)
    for name in given:
        if name not in known:
            raise ValueError(f"There is no {what} {name!r}{note}; the {what}s are {', '.join(known)}.")
    return [name for name in known if not given or name in given]
