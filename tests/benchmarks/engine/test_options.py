from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.engine import Options, choose, option
from benchmarks.engine.options import parse_options


@dataclass(frozen=True)
class Some(Options):
    method: tuple[str, ...] = option((), "Repeatable.", metavar="NAME")
    splits: int | None = option(None, "At most 10.", flag="--splits --n-splits", kind=int, bounds=(1, 10))
    share: float = option(0.25, "100 % is all.")


def parse(*arguments, omitted=()):
    texts = {"parts": "one, two", "quick": "less."}
    return parse_options(
        Some, list(arguments), command="bench some", description="A test.", omitted=omitted, texts=texts
    )


def test_fields_become_options():
    assert parse() == Some()
    found = parse(
        "--method", "a", "--method", "b", "--n-splits", "3", "--jobs", "4", "--quick", "--json", "f"
    )
    assert found == Some(method=("a", "b"), splits=3, n_jobs=4, quick=True, json_file=Path("f"))


def test_help_has_the_descriptions_and_defaults(capsys):
    with pytest.raises(SystemExit) as ended:
        parse("--help")
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Measure only this part: one, two." in text
    assert "100 % is all. Default: 0.25." in text
    assert "At most 10." in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--splits", "11"), "--splits must be from 1 to 10; got 11"),
        (("--jobs", "0"), "--jobs must be at least 1; got 0"),
        (("--jobs", "many"), "invalid int value: 'many'; see bench some --help"),
        (("--unknown",), "Unrecognized arguments: --unknown; see bench some --help"),
    ],
)
def test_wrong_options_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        parse(*arguments)


def test_omitted_options_are_not_on_the_command_line():
    with pytest.raises(ValueError, match="Unrecognized arguments: --fresh"):
        parse("--fresh", omitted=("fresh",))


def test_names_are_chosen_in_the_order_of_the_available():
    assert choose([], ("b", "a"), "part") == ["b", "a"]
    assert choose(["a", "b", "a"], ("b", "c", "a"), "part") == ["b", "a"]
    with pytest.raises(ValueError, match="There is no part 'd' with --quick; the parts are b, a"):
        choose(["d"], ("b", "a"), "part", " with --quick")
