"""Links from scikit-learn's HTML diagrams to the pages of our estimators."""

from __future__ import annotations

import lann

SITE = "https://lann.readthedocs.io/en/stable"


class DocumentedEstimator:
    """A mixin that tells scikit-learn where an estimator is documented; it comes before `BaseEstimator`."""

    _doc_link_module = "lann"
    _doc_link_template = SITE + "/api/generated/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        package, name = type(self).__module__.split(".")[1], type(self).__name__
        return {"page": f"lann.{name}" if name in lann.__all__ else f"lann.{package}.{name}"}
