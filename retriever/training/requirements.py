"""Whether what training imports is installed: the extra ``neural``, which searching tools does without."""

from importlib import import_module

from domain.errors import UnavailableError

TRAINING = ("torch", "sentence_transformers", "accelerate", "datasets")
"""What training an encoder imports."""
_NAMES = {"sklearn": "scikit-learn", "lightgbm": "LightGBM", "sentence_transformers": "sentence-transformers"}


def need(*modules: str) -> None:
    """``UnavailableError`` names the first of them that cannot be imported."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            name = _NAMES.get(module, module)
            raise UnavailableError(f"{name} is not installed: pip install -e '.[neural]'") from error
