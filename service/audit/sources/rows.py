"""Rows of data files: JSONL, JSON lists and Parquet; and their fields, with complaints that name file and field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.json_text import lenient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
ARCHIVES = (".zip", ".kpp", ".gz", ".tar", ".tgz", ".zst", ".xz", ".bz2", ".7z")
_MISSING = object()


class SourceError(Exception):
    """Something that cannot be read. The text names the file and the field."""


class Row:
    """One row: ``where`` names it in complaints, ``fields`` is its content.

    ``fault`` is why there is none: a line that is no JSON object, as the last one of a log that is being written.
    """

    def __init__(self, where: str, fields: dict[str, Any], index: int, fault: str | None = None) -> None:
        self.where = where
        self.fields = fields
        self.index = index
        self.fault = fault

    def __contains__(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or ``default`` where it is missing or null."""
        value = self.fields.get(name)
        return default if value is None else value

    def text(self, name: str) -> str:
        """Return a field that is text. Raises SourceError."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise self.bad(name, "must be text" if value is not None else "is missing")
        return value

    def decoded(self, name: str) -> Any:
        """Return a field that is JSON, as text or already decoded. Raises SourceError."""
        value = self.fields.get(name, _MISSING)
        if value is _MISSING or value is None:
            raise self.bad(name, "is missing")
        return self.json_of(name, value) if isinstance(value, str) else value

    def listed(self, name: str) -> list[Any]:
        """Return a field that is a list, or JSON text of one; an empty one where it is missing. Raises SourceError."""
        value = self.decoded(name) if self.get(name) else []
        if not isinstance(value, list):
            raise self.bad(name, "must be a list")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a field that is a list of texts; an empty one where it is missing. Raises SourceError."""
        values = self.listed(name)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise self.bad(f"{name}[{index}]", f"must be text, not {value!r:.40}")
        return values

    def json_of(self, name: str, text: str) -> Any:
        """Return the value of a JSON text found in field ``name``. Raises SourceError."""
        try:
            return lenient(text.encode("utf-8", "surrogatepass"))
        except ValueError as error:
            raise self.bad(name, f"is no JSON: {error}") from error

    def check(self) -> None:
        """Check that there is a row. Raises SourceError."""
        if self.fault is not None:
            raise SourceError(f"{self.where}: {self.fault}")

    def first(self, *names: str) -> str | None:
        """Return the value of the first field that is there, as an identifier."""
        value = next((self.fields[name] for name in names if self.fields.get(name) is not None), None)
        return None if value is None or isinstance(value, list | dict) else str(value)

    def bad(self, name: str, message: str) -> SourceError:
        """Return the complaint about a field."""
        return SourceError(f"{self.where}: {name}: {message}")


def read_rows(path: Path) -> Iterator[Row]:
    """Read a file's rows.

    Raises:
        SourceError: it cannot be read, or is in none of the formats.

    """
    try:
        if path.suffix == ".parquet":
            yield from _parquet(path)
        elif path.suffix == ".json":
            yield from _json_list(path)
        elif path.suffix in SUFFIXES:
            yield from _lines(path)
        elif path.suffix in ARCHIVES:
            raise SourceError(f"{path}: is an archive: unpack it; a problem package is a folder")
        else:
            raise SourceError(f"{path}: is none of {', '.join(SUFFIXES)}")
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error


def _lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as lines:
        for index, line in enumerate(lines):
            if line.strip():
                where = f"{path.name}:{index + 1}"
                try:
                    fields = _parsed(where, line)
                except SourceError as error:
                    yield Row(where, {}, index, fault=str(error).removeprefix(f"{where}: "))
                else:
                    yield _row(where, fields, index)


def _json_list(path: Path) -> Iterator[Row]:
    rows = _parsed(str(path), path.read_bytes())
    if not isinstance(rows, list):
        raise SourceError(f"{path}: must be a list of rows")
    for index, fields in enumerate(rows):
        yield _row(f"{path.name}[{index}]", fields, index)


def _parsed(where: str, text: bytes) -> Any:
    try:
        return lenient(text)
    except ValueError as error:
        raise SourceError(f"{where}: is no JSON: {error}") from error


def _row(where: str, fields: Any, index: int) -> Row:
    if not isinstance(fields, dict):
        return Row(where, {}, index, fault="must be a JSON object")
    return Row(where, fields, index)


def _parquet(path: Path) -> Iterator[Row]:
    try:
        # Heavy, and needed for this format only.
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise SourceError(
            f"{path}: Parquet needs the package pyarrow, which the extra `parquet` installs; or convert it to JSONL"
        ) from error
    try:
        with pq.ParquetFile(path) as file:
            index = 0
            for batch in file.iter_batches(batch_size=256):
                for fields in batch.to_pylist():
                    yield Row(f"{path.name}[{index}]", fields, index)
                    index += 1
    except (pa.ArrowException, ValueError) as error:
        # A ValueError: texts in it that are no UTF-8.
        raise SourceError(f"{path}: is no Parquet file that can be read: {error}") from error
