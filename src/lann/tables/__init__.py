"""Tables as they are in files: read them, fit models to them, predict, explain and embed their rows."""

from lann.columns.text import Column, TableWarning, apply_columns, infer_columns
from lann.tables._baselines import fit_baselines
from lann.tables._cross_validation import cross_validate
from lann.tables._embed_table import embed_table
from lann.tables._embedded_table import EmbeddedTable
from lann.tables._embedding_summary import Accuracy, ClassAccuracy, ConfusedPair, EmbeddingSummary
from lann.tables._files import check_table_path, read_table, write_table
from lann.tables._fit import fit_table
from lann.tables._labeled_rows import LabeledRows
from lann.tables._memory import TableSize, table_size
from lann.tables._model_info import ColumnInfo, ModelInfo
from lann.tables._predict_file import PredictionCounts
from lann.tables._reading import Reading
from lann.tables._reject import FittedFold
from lann.tables._sample import sample_table
from lann.tables._stream_columns import StreamColumns
from lann.tables._stream_run import StreamRun
from lann.tables._table_file import is_large_table
from lann.tables._table_model import TableModel
from lann.tables._training_table import TrainingTable

__all__ = [
    "Accuracy",
    "ClassAccuracy",
    "Column",
    "ColumnInfo",
    "ConfusedPair",
    "EmbeddedTable",
    "EmbeddingSummary",
    "FittedFold",
    "LabeledRows",
    "ModelInfo",
    "PredictionCounts",
    "Reading",
    "StreamColumns",
    "StreamRun",
    "TableModel",
    "TableSize",
    "TableWarning",
    "TrainingTable",
    "apply_columns",
    "check_table_path",
    "cross_validate",
    "embed_table",
    "fit_baselines",
    "fit_table",
    "infer_columns",
    "is_large_table",
    "read_table",
    "sample_table",
    "table_size",
    "write_table",
]
