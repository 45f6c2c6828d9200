"""A web service that predicts and explains rows by a fitted model: FastAPI and uvicorn."""

from lann.service._app import create_app
from lann.service._limits import Limits
from lann.service._run import serve

__all__ = ["Limits", "create_app", "serve"]
