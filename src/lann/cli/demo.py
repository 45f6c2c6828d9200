"""`lann demo`: what lann does, on data that come with it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from lann.cli.consoles import progress, results
from lann.cli.errors import one_sentence
from lann.cli.tables import write_table

if TYPE_CHECKING:
    import pandas as pd

SETS = ("iris", "wine", "breast-cancer", "digits", "artificial-classification")
SEEDS = (0, 1, 2)
EXPLAINED_SET, TARGET = "breast-cancer", "diagnosis"
N_NEW_ROWS = 20
EXPLAINED_ROW = 7  # one that is mistaken, and on which the neighbors do not agree


@one_sentence
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for what the demo writes; created if need be.")
    ] = Path("lann-demo"),
    quick: Annotated[bool, typer.Option("--quick", hidden=True, help="One split of two sets.")] = False,
) -> None:
    """Compare with kNN, explain a prediction, and leave files to try the other commands on.

    Takes less than a minute and needs no network.
    """
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file; give the name of a folder.")
    console = results()
    sets, seeds = (("iris", EXPLAINED_SET), SEEDS[:1]) if quick else (SETS, SEEDS)
    console.print(_comparison(sets, seeds))
    console.print()
    output.mkdir(parents=True, exist_ok=True)
    _explained_prediction(output, console)


def _comparison(sets: tuple[str, ...], seeds: tuple[int, ...]) -> Any:
    from rich.table import Table
    from rich.text import Text

    from lann.datasets import load

    table = Table(
        title="Accuracy on unseen data, trained on 25 %",
        title_justify="left",
        title_style="bold",
        caption=f"splits: {len(seeds)}, mean ± std; kNN: 5 neighbors, distance-weighted, z-scored",
        caption_justify="left",
    )
    table.add_column("data set")
    for name in ("size", "classes", "kNN", "LANN", "fit, s"):
        table.add_column(name, justify="right", no_wrap=True)
    with progress() as bar:
        task = bar.add_task("Compiling, once per installation", total=len(sets) * len(seeds))
        _warm_up()
        for name in sets:
            bar.update(task, description=name)
            X, y = load(name, return_X_y=True)
            found = []
            for seed in seeds:
                found.append(_split_scores(X, y, seed))
                bar.advance(task)
            (plain, ours, seconds), spread = np.mean(found, axis=0), np.std(found, axis=0)
            sizes = f"{len(X)} × {X.shape[1]}", str(len(np.unique(y)))
            better = "bold green" if ours > plain else ""
            scores = f"{plain:.3f} ± {spread[0]:.3f}", Text(f"{ours:.3f} ± {spread[1]:.3f}", style=better)
            table.add_row(name, *sizes, *scores, f"{seconds:.2f}")
    return table


def _warm_up() -> None:
    """Compile the kernels, so that the first fit is not timed with it."""
    from lann.classifier import LANNClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    LANNClassifier(max_iter=1, random_state=0).fit(X, X[:, 0] > 0).predict(X)


def _split_scores(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Accuracy of kNN and of LANN, and LANN's seconds to fit, on one split."""
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


def _explained_prediction(folder: Path, console: Any) -> None:
    """Do what `lann fit` and `lann explain` do, and leave their files."""
    from lann.classifier import LANNClassifier
    from lann.cli.account import accounts, explain_rows
    from lann.cli.columns import make_pipeline
    from lann.cli.fit import fit_task, make_task
    from lann.cli.report import write_report
    from lann.cli.show import show
    from lann.cli.trained import Trained
    from lann.persist import save

    train, new, truth = _tables()
    task = make_task(train, EXPLAINED_SET, target=TARGET, id=None, drop=[])
    model = fit_task(make_pipeline(task.columns, LANNClassifier(random_state=0)), task)
    trained = Trained(model)
    rows = trained.prepare(new, "rows.csv")
    explanation = explain_rows(trained, rows)
    told = accounts(trained, rows, explanation, list(range(len(new))))
    account = told[EXPLAINED_ROW]
    console.print(f"One prediction explained: row {EXPLAINED_ROW} of rows.csv, truly {truth}", style="bold")
    console.print()
    show(account, console, shown_columns=8)

    write_table(train, folder / "breast-cancer.csv")
    write_table(new, folder / "rows.csv")
    write_table(account.to_frame(), folder / "explanation.csv")
    save(model, folder / "model.skops")
    title = "model.skops on rows.csv"
    page = folder / "report.html"
    write_report(page, trained, explanation, told, title=title, shown_columns=10, notes=[])
    console.print(f"\nWrote model.skops, breast-cancer.csv, rows.csv and explanation.csv to {folder}. Try:")
    # As it was called, unless a plain `lann` is found.
    command = "lann" if shutil.which("lann") else os.path.relpath(sys.argv[0])
    for line in (
        f"{command} predict {folder / 'model.skops'} {folder / 'rows.csv'}",
        f"{command} explain {folder / 'model.skops'} {folder / 'rows.csv'} --row 0",
        f"{command} fit {folder / 'breast-cancer.csv'} --target {TARGET} -o {folder / 'mine.skops'}",
    ):
        console.print(f"  {line}", style="cyan", soft_wrap=True)
    console.print(f"All {len(told)} rows are explained in {page}: open it in a browser.", soft_wrap=True)


def _tables() -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """A quarter of the data to train on, some of the other rows, and the label of the row to explain."""
    from sklearn.model_selection import train_test_split

    from lann.datasets import load

    bunch: Any = load(EXPLAINED_SET, as_frame=True)
    frame = bunch.data.assign(**{TARGET: bunch.target_names[bunch.target]})
    train, test = train_test_split(frame, train_size=0.25, stratify=frame[TARGET], random_state=0)
    new = test.head(N_NEW_ROWS).reset_index(drop=True)
    return train.reset_index(drop=True), new.drop(columns=TARGET), new[TARGET][EXPLAINED_ROW]
