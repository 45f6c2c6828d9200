# The compiled kernels take and fill arrays; their C++ sources say which.
from typing import Any

def __getattr__(name: str) -> Any: ...
