"""Which version of this project runs."""

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """Return the version of the installed distribution, or say that it runs from a source tree."""
    try:
        return version("microcoder-evaluator")
    except PackageNotFoundError:
        return "0+source"
