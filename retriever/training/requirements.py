"""Check that the packages of the extra ``neural`` are installed, which only training needs."""

from importlib import import_module

from domain.errors import UnavailableError

TRAINING_MODULES = ("torch", "sentence_transformers", "accelerate", "datasets")
"""Packages that training an encoder imports."""
_PACKAGE_NAMES = {"sklearn": "scikit-learn", "lightgbm": "LightGBM", "sentence_transformers": "sentence-transformers"}


def require_modules(*modules: str) -> None:
    """Raise ``UnavailableError`` for the first of these modules that cannot be imported."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            name = _PACKAGE_NAMES.get(module, module)
            raise UnavailableError(f"{name} is not installed: pip install -e '.[neural]'") from error
