from __future__ import annotations

import pandas as pd

import lann


def test_the_demo_compares_explains_and_writes_files_for_the_other_commands(run, tmp_path):
    folder = tmp_path / "out"
    printed = run("demo", "--quick", "--output", folder)
    assert "iris" in printed
    assert "breast-cancer" in printed
    assert "with probability" in printed
    names = {"model.lann", "breast-cancer.csv", "rows.csv", "explanation.csv", "report.html"}
    assert {path.name for path in folder.iterdir()} == names
    rows = pd.read_csv(folder / "rows.csv")
    assert set(lann.load(folder / "model.lann").predict(rows)) == {"malignant", "benign"}
    assert printed.rstrip().endswith(f"{folder / 'report.html'}: open it in a browser.")
    commands = [line.split()[1:] for line in printed.splitlines() if str(folder) in line and "  " in line[:2]]
    assert [command[0] for command in commands] == ["predict", "explain", "fit"]
    for command in commands:
        run(*command, *(["--no-cv"] if command[0] == "fit" else []))
    assert (folder / "mine.lann").exists()
    # The explanation is that of the command.
    explanation = pd.read_csv(folder / "explanation.csv")
    row = str(explanation["row"][0])
    run("explain", folder / "model.lann", folder / "rows.csv", "--row", row, "-o", folder / "again.csv")
    pd.testing.assert_frame_equal(pd.read_csv(folder / "again.csv"), explanation, rtol=1e-9)
