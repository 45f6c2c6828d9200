"""`lann embed`: a picture of the rows, in which those are near each other that the model takes for alike."""

from __future__ import annotations

import warnings
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lann.cli.consoles import note, progress, results
from lann.cli.embed_rows import Settings, rows_to_embed
from lann.cli.errors import one_sentence
from lann.cli.options import FORM, Balanced, Drop, Jobs, Metric
from lann.cli.tables import KINDS, check_output, write_table

if TYPE_CHECKING:
    from lann.cli.embed_summary import Summary
    from lann.cli.embedded import Embedded

PAGES, PICTURES = (".html", ".htm"), (".png", ".svg", ".pdf")
# What t-SNE needs to part the points, and the largest seed there is.
MOST_SEED = 2**32 - 1


class Method(StrEnum):
    """The choices of `LANNEmbedding`'s parameter of that name."""

    umap = "umap"
    densmap = "densmap"
    tsne = "tsne"


@one_sentence
def embed(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="The table: .csv, .csv.gz or .parquet. With --model, rows to place among those of its "
            "training; may be left out then.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column with the classes.", show_default="that of --model"),
    ] = None,
    output: Annotated[
        list[Path],
        typer.Option(
            "--output", "-o",
            help="What to write: .html (a page to look around in), .png, .svg or .pdf (a picture), .csv, "
            ".csv.gz or .parquet (places and predictions). May be given repeatedly.",
        ),
    ] = [Path("embedding.html")],  # noqa: B006
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A model written by `lann fit` or `lann.save`, to embed its training rows."
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Further rows, to be placed only: .csv, .csv.gz or .parquet."),
    ] = None,
    held_out: Annotated[
        float | None,
        typer.Option("--held-out", metavar="SHARE", help="The share of the rows to be placed only: 0.3."),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="A column that names the rows.")
    ] = None,
    drop: Drop = None,
    metric: Annotated[Metric | None, typer.Option(help=FORM, show_default="diagonal")] = None,
    balanced: Balanced = False,
    method: Annotated[Method, typer.Option(help="What places the points.")] = Method.umap,
    neighbors: Annotated[
        int, typer.Option(min=2, help="How far a neighborhood reaches: few show detail, many the whole.")
    ] = 15,
    min_dist: Annotated[
        float, typer.Option("--min-dist", min=0, max=1, help="How close points are packed; not for tsne.")
    ] = 0.1,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="How long the places are improved.", show_default="as the method needs"),
    ] = None,
    columns: Annotated[
        int, typer.Option(min=1, help="How many columns to tell for each point, most relevant first.")
    ] = 5,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Of everything random: the same seed, the same picture.")] = 0,
) -> None:  # fmt: skip
    """Show how the classes lie to each other, and place new rows among them.

    Learns from a table as `lann fit` does, or takes a trained model, and places its training rows in the
    plane: near each other are those that the learned metrics find alike. Rows of --test, or a share of all
    (--held-out), are not learned from but placed: they tell what the picture is worth. The page is one file
    that needs nothing else: point at a row to see its label, its prediction, who voted and why.
    """
    from lann.cli.embed_show import describe, show_summary
    from lann.cli.embed_summary import summarize
    from lann.cli.embedded import make_embedded
    from lann.embedding import LANNEmbedding

    for path in output:
        _check_output(path)
    _check_options(method, epochs, jobs, seed)
    layout = LANNEmbedding(
        n_neighbors=neighbors, min_dist=min_dist, method=method.value, n_epochs=epochs, n_jobs=jobs,
        random_state=seed, prefit=True,
    )  # fmt: skip
    console = results()
    with progress() as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown categories: said below, in words
        steps = bar.add_task("Reading", total=4)
        _check_installed(method.value, min_dist, output)
        given = Settings(
            target=target, id=id, drop=drop or [], metric=metric, balanced=balanced, held_out=held_out,
            test=test, jobs=jobs, seed=seed,
        )  # fmt: skip

        def told(what: str) -> None:
            bar.update(steps, advance=1, description=what)

        source = rows_to_embed(data, model, given, told=told)
        told("Placing")
        layout.set_params(classifier=source.trained.classifier)
        layout.fit(source.trained.classifier._model.levels.X)
        told("Asking the neighbors")
        embedded = make_embedded(source.trained, layout, source.new)
    summary = summarize(embedded)
    describe(embedded, console)
    show_summary(embedded, summary, console, advice=source.advice)
    for text in source.notes:
        note(text, console)
    for path in output:
        said = _write(path, embedded, summary, title=source.title, notes=source.notes, n_columns=columns)
        console.print(said, soft_wrap=True)


def _check_output(path: Path) -> None:
    if not path.name.lower().endswith((*PAGES, *PICTURES, *KINDS)):
        kinds = ", ".join((PAGES[0], *PICTURES, *KINDS[:-1]))
        raise ValueError(f"{path} is of an unknown kind; give a file that ends in {kinds} or {KINDS[-1]}.")
    check_output(path, kinds=())


def _check_options(method: Method, epochs: int | None, jobs: int | None, seed: int) -> None:
    """Name options as they were typed, where the estimators would name their parameters."""
    from lann.embedding.layout import LEAST_TSNE_EPOCHS

    if epochs is not None and method == Method.tsne and epochs < LEAST_TSNE_EPOCHS:
        raise ValueError(f"--epochs must be at least {LEAST_TSNE_EPOCHS} with --method tsne; got {epochs}.")
    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
    if not 0 <= seed <= MOST_SEED:
        raise ValueError(f"--seed must be from 0 to {MOST_SEED}; got {seed}.")


def _check_installed(method: str, min_dist: float, output: list[Path]) -> None:
    """Fail before the work rather than after it, if a package is missing."""
    if method != "tsne" and find_spec("umap") is None:
        from lann.embedding.layout import half_distance

        half_distance(method, min_dist)  # which says what to install
    if any(path.suffix.lower() in PICTURES for path in output):
        from lann.plot import check_matplotlib_support

        check_matplotlib_support()


def _write(
    path: Path, embedded: Embedded, summary: Summary, *, title: str, notes: list[str], n_columns: int
) -> str:
    """Write the embedding in the kind that the name asks for; returns what to say."""
    if path.suffix.lower() in PAGES:
        from lann.cli.embedding_page import write_page

        left_out = write_page(path, embedded, summary, title=title, notes=notes, n_columns=n_columns)
        return " ".join([f"Wrote {path}: open it in a browser.", *left_out])
    if path.suffix.lower() in PICTURES:
        from lann.cli.embed_picture import write_picture

        write_picture(path, embedded, summary, title=title)
        return f"Wrote {path}"
    write_table(embedded.to_frame(min(n_columns, len(embedded.columns))), path)
    return f"Wrote {path}: {len(embedded)} rows"
