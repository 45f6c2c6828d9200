"""Published methods as scikit-learn estimators, with common names of parameters and attributes.

Scale the features beforehand (StandardScaler): all distances are sums over features.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lann.baselines._dann import DANN
    from lann.baselines._dann import DiscriminantMaps as DiscriminantMaps
    from lann.baselines._glml.gaussians import Gaussians as Gaussians
    from lann.baselines._glml.glml import GLML
    from lann.baselines._glml.glml import GenerativeMaps as GenerativeMaps
    from lann.baselines._large_margin.lmnn import LMNN
    from lann.baselines._large_margin.multi_metric_lmnn import MultiMetricLMNN
    from lann.baselines._lvq.gmlvq import GMLVQ
    from lann.baselines._lvq.grlvq import GRLVQ
    from lann.baselines._lvq.lgmlvq import LGMLVQ
    from lann.baselines._lvq.lgrlvq import LGRLVQ
    from lann.baselines._lvq.model import Prototypes as Prototypes
    from lann.baselines._mapped_rows import GroupMaps as GroupMaps
    from lann.baselines._plml.model import AnchorMaps as AnchorMaps
    from lann.baselines._plml.plml import PLML
    from lann.baselines._published_lann import PublishedLANN

__all__ = [
    "DANN",
    "GLML",
    "GMLVQ",
    "GRLVQ",
    "LGMLVQ",
    "LGRLVQ",
    "LMNN",
    "PLML",
    "MultiMetricLMNN",
    "PublishedLANN",
]

# Imported on first use, with numba: `import lann.baselines` stays cheap.
_MODULES = {
    "DANN": "_dann",
    "GLML": "_glml.glml",
    "GMLVQ": "_lvq.gmlvq",
    "GRLVQ": "_lvq.grlvq",
    "LGMLVQ": "_lvq.lgmlvq",
    "LGRLVQ": "_lvq.lgrlvq",
    "LMNN": "_large_margin.lmnn",
    "MultiMetricLMNN": "_large_margin.multi_metric_lmnn",
    "PLML": "_plml.plml",
    "PublishedLANN": "_published_lann",
    # The fitted models, which `lann.persist` builds; they are not for users.
    "AnchorMaps": "_plml.model",
    "DiscriminantMaps": "_dann",
    "Gaussians": "_glml.gaussians",
    "GenerativeMaps": "_glml.glml",
    "GroupMaps": "_mapped_rows",
    "Prototypes": "_lvq.model",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"lann.baselines.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'lann.baselines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
