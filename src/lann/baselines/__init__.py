"""Published methods as scikit-learn estimators, with common names of parameters and attributes.

Scale the features beforehand (StandardScaler): all distances are sums over features.
"""

from lann.baselines._lmnn import LMNN, MultiMetricLMNN
from lann.baselines._lvq import GMLVQ, GRLVQ, LGMLVQ, LGRLVQ
from lann.baselines._lvq_model import Prototypes as Prototypes
from lann.baselines._mapped_rows import GroupMaps as GroupMaps
from lann.baselines._plml import PLML
from lann.baselines._plml import AnchorMaps as AnchorMaps
from lann.baselines._published_lann import PublishedLANN
from lann.baselines._query_metrics import DANN, GLML
from lann.baselines._query_metrics import DiscriminantMaps as DiscriminantMaps
from lann.baselines._query_metrics import Gaussians as Gaussians
from lann.baselines._query_metrics import GenerativeMaps as GenerativeMaps

# The fitted models are for `lann.persist`, not for users.
__all__ = [
    "DANN", "GLML", "GMLVQ", "GRLVQ", "LGMLVQ", "LGRLVQ", "LMNN", "PLML", "MultiMetricLMNN", "PublishedLANN"
]  # fmt: skip
