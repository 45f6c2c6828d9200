"""Tables as they are in files: read and write them, fit models to them, predict and explain their rows."""

from lann.columns.text import Column as Column
from lann.columns.text import TableWarning
from lann.columns.text import apply_columns as apply_columns
from lann.columns.text import infer_columns as infer_columns

# The other names are for the command line and the reports; they can change.
from lann.tables._cross_validation import FittedFold as FittedFold
from lann.tables._cross_validation import cross_validate as cross_validate
from lann.tables._cross_validation import fit_baselines as fit_baselines
from lann.tables._embedding import EmbeddedTable as EmbeddedTable
from lann.tables._predict_file import PredictionCounts as PredictionCounts
from lann.tables._predict_file import prediction_documents as prediction_documents
from lann.tables._reading import Reading as Reading
from lann.tables._reading import read_content as read_content
from lann.tables._reading import read_table
from lann.tables._reading import rows_in_memory as rows_in_memory
from lann.tables._reading import sample_table as sample_table
from lann.tables._rows import NO_LABEL as NO_LABEL
from lann.tables._rows import LabeledRows as LabeledRows
from lann.tables._rows import NewRows as NewRows
from lann.tables._stream_run import StreamColumns as StreamColumns
from lann.tables._stream_run import StreamRun as StreamRun
from lann.tables._table_model import TableModel
from lann.tables._training_table import TrainingTable as TrainingTable
from lann.tables._values import SCORED_LEVELS as SCORED_LEVELS
from lann.tables._values import cross_validate_values as cross_validate_values
from lann.tables._values import errors_by_part as errors_by_part
from lann.tables._values import score_distribution as score_distribution
from lann.tables._values import score_values as score_values
from lann.tables._values import worst_slices as worst_slices
from lann.tables._writing import check_table_path as check_table_path
from lann.tables._writing import write_table

__all__ = ["TableModel", "TableWarning", "read_table", "write_table"]
