"""Tables as people have them, on the command line."""

from __future__ import annotations

import pandas as pd
import pytest
from typer.testing import CliRunner

from lann.cli.commands import app


@pytest.fixture
def german(frame, tmp_path):
    """The table with semicolons, decimal commas and Windows-1252."""
    table = frame.rename(columns={"size [cm]": "Größe"})
    table.to_csv(tmp_path / "german.csv", index=False, sep=";", decimal=",", encoding="latin-1")
    return tmp_path / "german.csv"


def fit(run, path, folder, *options):
    return run("fit", path, "--target", "group", "--id", "name", "--no-cv", "-o", folder / "m.lann", *options)


def test_what_was_found_is_a_note_and_numbers_are_numbers(run, german, tmp_path):
    printed = fit(run, german, tmp_path)
    assert (
        "Note: Found in german.csv: semicolons separate cells; decimal commas; encoding Windows-1252."
        in printed
    )
    assert "4 columns: 2 with numbers, 1 with categories, 1 with true/false" in printed
    for command in ("predict", "explain"):
        printed = run(command, tmp_path / "m.lann", german, "--id", "name")
        assert "Found in german.csv: semicolons separate cells" in printed


def test_options(run, fails, frame, csv, tmp_path):
    frame.to_csv(tmp_path / "o.csv", index=False, sep="~")
    options = ("--sep", "~", "--decimal", ".", "--encoding", "utf-8")
    assert "Found in" not in fit(run, tmp_path / "o.csv", tmp_path, *options)
    assert "--sheet" in run("predict", "--help")
    assert "sheet is not for" in fails("predict", tmp_path / "m.lann", csv, "--sheet", "x")
    assert "sep must be one character" in fails("explain", tmp_path / "m.lann", csv, "--sep", "xy")


def test_missing_values_of_a_table(run, fails, frame, tmp_path):
    table, path = frame.assign(**{"size [cm]": frame["size [cm]"].astype(object)}), tmp_path / "t.csv"
    table.loc[5, "size [cm]"] = "k.A."
    table.to_csv(path, index=False)
    printed = fit(run, path, tmp_path)
    assert "Column 'size [cm]' is read as text, because 'k.A.' is no number" in printed
    assert "columns: 1 with numbers" in printed
    given = ("--na-values", "k.A.", "--na-values", "unknown")
    printed = fit(run, path, tmp_path, *given)
    assert "read as text" not in printed
    assert "4 columns: 2 with numbers" in printed
    assert "must have numbers; row 5 has 'k.A.'" in fails("predict", tmp_path / "m.lann", path)
    assert "Accuracy" in run("predict", tmp_path / "m.lann", path, *given)


def test_standard_input(model, new):
    arguments = ["predict", str(model), "-", "--id", "name"]
    result = CliRunner(env={"COLUMNS": "160"}).invoke(app, arguments, input=new.read_bytes())
    assert result.exit_code == 0, result.output
    assert "p9" in result.stdout
    lines = pd.read_csv(new).to_json(orient="records", lines=True)
    again = CliRunner(env={"COLUMNS": "160"}).invoke(app, arguments, input=lines)
    assert again.stdout == result.stdout
    failed = CliRunner().invoke(app, [*arguments, "--sep", ";"], input=b"a,b\n1,2\n")
    assert failed.exit_code == 2
    assert "'noise' in standard input" in failed.stderr


def test_the_nearest_name_is_suggested(fails, csv, model, new, tmp_path):
    output = ("-o", tmp_path / "m.lann")
    assert "for target; did you mean 'group'?" in fails("fit", csv, "--target", "Group", *output)
    options = ("--target", "group", "--drop", "kolor", *output)
    assert "no column 'kolor' in data.csv for drop; did you mean 'color'?" in fails("fit", csv, *options)
    assert "for id; did you mean 'name'?" in fails("predict", model, new, "--id", "names")
    renamed = pd.read_csv(new).rename(columns={"noise": "Noise"})
    renamed.to_csv(tmp_path / "r.csv", index=False)
    assert "There is no column 'noise' in r.csv; did you mean 'Noise'?" in fails(
        "predict", model, tmp_path / "r.csv"
    )
