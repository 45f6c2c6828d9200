"""Control characters of columns, labels, ids, cells and file names are shown escaped by every command."""

from __future__ import annotations

import re
import unicodedata
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lann.cli.commands import app

# A color, the title of the window, a bell, a cursor to the left, a tab, a line break, DEL, a
# sequence of C1, reversed text, a separator of lines, a character without a width, and markup of rich.
HOSTILE = "\x1b[31m\x1b]0;title\x07\x1b[2D\t\n\x7f\x9b31m\u202e\u2066\u2028\u200b[red]:bomb:"
SHOWN = r"\x1b[31m\x1b]0;title\x07\x1b[2D\t\n\x7f\x9b31m\u202e\u2066\u2028\u200b[red]:bomb:"
TARGET, ID, NUMBER, CATEGORY = (f"{name}{HOSTILE}" for name in ("target", "id", "number", "category"))
# What rich writes itself on a terminal: colors and styles, the cursor, and lines that are erased.
OF_RICH = re.compile("\x1b\\[[0-9;]*m|\x1b\\[\\?25[lh]|\x1b\\[[0-9]*[AK]|\r")


def raw_characters(text: str) -> set[str]:
    """Return the characters of a text that are not to reach a terminal."""
    kinds = {character: unicodedata.category(character) for character in set(text) - {"\n"}}
    return {character for character, kind in kinds.items() if kind in ("Cc", "Cf", "Cs", "Zl", "Zp")}


def make_table(n_rows: int = 60) -> pd.DataFrame:
    """Return a table with hostile names, ids, labels and categories; a label alone, and a constant column."""
    rng = np.random.default_rng(0)
    number = rng.normal(size=n_rows).round(2)
    frame = pd.DataFrame(
        {
            ID: [f"row {row}{HOSTILE}" for row in range(n_rows)],
            NUMBER: number,
            CATEGORY: rng.choice([f"a{HOSTILE}", f"b{HOSTILE}"], n_rows),
            f"constant{HOSTILE}": f"c{HOSTILE}",
            TARGET: np.where(number + rng.normal(0, 0.5, n_rows) > 0, f"yes{HOSTILE}", f"no{HOSTILE}"),
        }
    )
    frame.loc[5, TARGET] = f"alone{HOSTILE}"
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a hostile name that has a training table, new rows, and a saved model."""
    folder = tmp_path_factory.mktemp("t") / f"folder{HOSTILE}"
    folder.mkdir()
    frame = make_table()
    frame.to_csv(folder / f"train{HOSTILE}.csv", index=False)
    new = make_table(14)
    new.loc[0, CATEGORY] = f"unseen{HOSTILE}"
    new.loc[1, NUMBER] = 99.0
    new.to_csv(folder / f"new{HOSTILE}.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def model(folder):
    """The saved model, and what `lann fit` printed."""
    path = folder / f"model{HOSTILE}.lann"
    arguments = [folder / f"train{HOSTILE}.csv", "--target", TARGET, "--id", ID, "--columns", "--folds", 2]
    return path, invoke("fit", *arguments, "-o", path)


def invoke(*arguments, code: int = 0, **options) -> str:
    """Run a command; return what it prints on stdout and stderr, which has no raw characters."""
    runner = CliRunner(env={"COLUMNS": "1000"})
    result = runner.invoke(app, [str(argument) for argument in arguments], **options)
    assert result.exit_code == code, result.output
    if code == 0:
        assert result.exception is None
    printed = result.stdout + result.stderr
    assert raw_characters(printed) == set()
    return printed


def commands(folder, model):
    """Return the arguments of every command that shows something of a table."""
    train, new = folder / f"train{HOSTILE}.csv", folder / f"new{HOSTILE}.csv"
    return {
        "info": [["info", model]],
        "evaluate": [["evaluate", model, new], ["evaluate", model, new, "--html", folder / "e.html"]],
        "predict": [
            ["predict", model, new],
            ["predict", model, new, "--coverage", 0.8, "-o", folder / f"p{HOSTILE}.csv"],
        ],
        "explain": [
            ["explain", model, new, "--row", 0, "--row", 1],
            ["explain", model, new, "--rows", "0:12"],
            ["explain", model, new, "--rows", "0:12", "-o", folder / f"e{HOSTILE}.csv"],
            ["explain", model, new, "--html", folder / f"e{HOSTILE}.html"],
        ],
        "counterfactual": [["counterfactual", model, new, "--rows", "0:3", "--frozen", CATEGORY]],
        "stream": [["stream", train, "--target", TARGET, "--drop", ID, "-o", folder / f"s{HOSTILE}.csv"]],
        "embed": [
            [
                "embed", "--model", model, "--method", "tsne", "--epochs", 250,
                "-o", folder / f"m{HOSTILE}.csv", "-o", folder / "m.svg",
            ]
        ],
        "suspects": [["suspects", "--model", model]],
    }  # fmt: skip


def test_fit_shows_names_labels_and_categories_escaped(model):
    _, printed = model
    for name in ("target", "number", "category", "constant", "yes", "no", "alone"):
        assert f"{name}{SHOWN}" in printed
    assert r" b\x1b[31m" in printed  # categories are shortened
    assert f"Saved {str(model[0]).replace(HOSTILE, SHOWN)}" in printed


@pytest.mark.parametrize(
    "name", ["info", "evaluate", "predict", "explain", "counterfactual", "stream", "embed", "suspects"]
)
def test_every_command_escapes_what_tables_have(name, folder, model, parse_page):
    for arguments in commands(folder, model[0])[name]:
        assert SHOWN in invoke(*arguments)
    # Pages and figures that were written are valid all the same.
    for page in folder.glob("*.html"):
        parse_page(page.read_text(encoding="utf-8"))
    for figure in folder.glob("*.svg"):
        assert ElementTree.parse(figure).getroot().tag.endswith("svg")
