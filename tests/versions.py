"""Which versions of other packages the tests run with."""

import sklearn
from packaging.version import Version

# Learned models differ a little from those of later versions: random numbers are drawn in another order.
WITH_EARLIER_VERSIONS = Version(sklearn.__version__) < Version("1.8")
