"""`lann demo`: a comparison with kNN, an explained prediction, and files for the other commands."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from lann.cli import options as opt
from lann.cli.output import Output, make_table, styled

if TYPE_CHECKING:
    from rich.table import Table

SETS = ("iris", "wine", "breast-cancer", "digits", "artificial-classification")
SEEDS = (0, 1, 2)
EXPLAINED_SET, TARGET = "breast-cancer", "diagnosis"
FILES = ("model.lann", "breast-cancer.csv", "rows.csv", "explanation.csv", "report.html")
N_NEW_ROWS = 20
EXPLAINED_ROW = 7  # its prediction is wrong, and its neighbors have different labels


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for the files of the demo; created if need be.")
    ] = Path("lann-demo"),
    json: opt.AsJson = False,
    quick: Annotated[bool, typer.Option("--quick", hidden=True, help="One split of two data sets.")] = False,
) -> None:
    """Compare with kNN, explain a prediction, and write files to try the other commands on.

    Takes less than a minute and needs no network.
    """
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file; give the name of a folder.")
    out = Output(json)
    sets, seeds = (("iris", EXPLAINED_SET), SEEDS[:1]) if quick else (SETS, SEEDS)
    accuracies = _compare(sets, seeds, out)
    out.print(_accuracy_table(accuracies, len(seeds)), "")
    output.mkdir(parents=True, exist_ok=True)
    explained = _explain_prediction(output, out)
    out.files = [output / name for name in FILES]
    _suggest_commands(output, out)
    out.finish(accuracies=accuracies, explained=explained)


def _compare(sets: tuple[str, ...], seeds: tuple[int, ...], out: Output) -> list[dict[str, Any]]:
    """Return the accuracies of kNN and LANN on each data set, means and standard deviations over splits."""
    from lann.datasets import load

    accuracies: list[dict[str, Any]] = []
    with out.progress() as step:
        report = step("Comparing with kNN")
        for name in sets:
            X, y = load(name, return_X_y=True)
            scores = []
            for seed in seeds:
                scores.append(_split_scores(X, y, seed))
                report(len(accuracies) * len(seeds) + len(scores), len(sets) * len(seeds))
            sizes = {"n_rows": len(X), "n_features": X.shape[1], "n_classes": len(np.unique(y))}
            knn, ours, seconds = np.mean(scores, axis=0)
            knn_std, ours_std, _ = np.std(scores, axis=0)
            means = {"knn": knn, "knn_std": knn_std, "lann": ours, "lann_std": ours_std}
            accuracies.append({"data_set": name, **sizes, **means, "fit_seconds": seconds})
    return accuracies


def _accuracy_table(accuracies: list[dict[str, Any]], n_splits: int) -> Table:
    lines = []
    for line in accuracies:
        knn, ours = (f"{line[name]:.3f} ± {line[name + '_std']:.3f}" for name in ("knn", "lann"))
        size = f"{line['n_rows']} × {line['n_features']}"
        style = "bold green" if line["lann"] > line["knn"] else ""
        cells = [line["data_set"], size, line["n_classes"], knn, styled(ours, style)]
        lines.append([*cells, f"{line['fit_seconds']:.2f}"])
    return make_table(
        ["data set", ">>size", ">>classes", ">>kNN", ">>LANN", ">>fit, s"],
        lines,
        title="Accuracy on test rows, trained on 25% of the rows",
        caption=f"splits: {n_splits}, mean ± std; kNN: 5 neighbors, distance-weighted, standardized",
    )


def _split_scores(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Return the accuracies of kNN and of LANN on one split, and the seconds that LANN takes to fit."""
    from sklearn.model_selection import StratifiedShuffleSplit
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from lann.classifier import LANNClassifier

    train, test = next(StratifiedShuffleSplit(1, train_size=0.25, random_state=seed).split(X, y))
    plain = make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance"))
    plain.fit(X[train], y[train])
    start = time.perf_counter()
    ours = LANNClassifier(n_jobs=-1, random_state=0).fit(X[train], y[train])
    seconds = time.perf_counter() - start
    return plain.score(X[test], y[test]), ours.score(X[test], y[test]), seconds


def _explain_prediction(folder: Path, out: Output) -> dict[str, Any]:
    """Fit a model, print one explained prediction, and write what `lann fit` and `lann explain` write.

    Returns the explained prediction.
    """
    from sklearn.model_selection import train_test_split

    from lann.cli.explain import explained_documents, show_row
    from lann.datasets import load
    from lann.report import save_report
    from lann.tables import TableModel, write_table

    bunch: Any = load(EXPLAINED_SET, as_frame=True)
    frame = bunch.data.assign(**{TARGET: bunch.target_names[bunch.target]})
    train, test = train_test_split(frame, train_size=0.25, stratify=frame[TARGET], random_state=0)
    new = test.head(N_NEW_ROWS).reset_index(drop=True)
    model = TableModel.fit(train.reset_index(drop=True), TARGET)
    model.save(folder / "model.lann")
    explanation = model.explain(new.drop(columns=TARGET))
    label = new[TARGET][EXPLAINED_ROW]
    title = f"One explained prediction: row {EXPLAINED_ROW} of rows.csv, whose label is {label}"
    out.print(title, "", style="bold")
    row = explanation.row(EXPLAINED_ROW)
    show_row(row, out, 8)
    write_table(train, folder / "breast-cancer.csv")
    write_table(new.drop(columns=TARGET), folder / "rows.csv")
    explained = explanation[EXPLAINED_ROW]
    write_table(explained.to_frame(), folder / "explanation.csv", guard_formulas=True)
    save_report(folder / "report.html", model, explanation, title="model.lann on rows.csv")
    return explained_documents(explained)[0]


def _suggest_commands(folder: Path, out: Output) -> None:
    out.print("", f"Wrote {', '.join(FILES[:-1])} and {FILES[-1]} to {folder}. Try:", soft_wrap=False)
    # The name by which this command was called, unless `lann` is on the path.
    command = "lann" if shutil.which("lann") else os.path.relpath(sys.argv[0])
    for line in (
        f"{command} predict {folder / 'model.lann'} {folder / 'rows.csv'}",
        f"{command} explain {folder / 'model.lann'} {folder / 'rows.csv'} --row 0",
        f"{command} fit {folder / 'breast-cancer.csv'} --target {TARGET} -o {folder / 'mine.lann'}",
    ):
        out.print(f"  {line}", style="cyan")
    out.print(f"All {N_NEW_ROWS} rows are explained in {folder / 'report.html'}: open it in a browser.")
