"""The container of a model file: a zip archive whose manifest lists every member with its size and SHA-256."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from typing import Any

from sparsebayes.export._errors import ModelFileError, reason
from sparsebayes.export._text import from_json_bytes, to_json_bytes

FORMAT, VERSION = "sparsebayes model", 1
MANIFEST = "manifest.json"
KEYS = {"format", "version", "package", "members", "sha256"}
EPOCH = (1980, 1, 1, 0, 0, 0)  # the date of every member: the same model gives the same bytes
COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others take as much memory as the file says
READABLE = 0o644 << 16
# JSON is deflated to a tenth or so. Zeros would be to a thousandth: a file of 4 MB could take 4 GB of memory
EXPANSION, AFFORDABLE = 200, 1 << 26
DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError,
    OverflowError, OSError, KeyError, IndexError,
)  # fmt: skip
KNOWN_STARTS = {
    b"": "an empty file",
    b"\x80": "a pickle",
    b"\x89PNG": "a PNG image",
    b"\x93NUMPY": "a .npy file",
    b"\x1f\x8b": "a file compressed by gzip",
    b"{": "a text file",
}


def pack(members: dict[str, bytes], package: str) -> bytes:
    """The bytes of a model file with these members, written by this version of the package."""
    listed = [{"name": name, "size": len(data), "sha256": _sha256(data)} for name, data in members.items()]
    head = {"format": FORMAT, "version": VERSION, "package": package, "members": listed}
    manifest = to_json_bytes(head | {"sha256": digest(head)})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {MANIFEST: manifest, **members}.items():
            info = zipfile.ZipInfo(name, EPOCH)
            info.external_attr, info.create_system = READABLE, 3
            info.compress_type = zipfile.ZIP_DEFLATED if name.endswith(".json") else zipfile.ZIP_STORED
            archive.writestr(info, data)
    return buffer.getvalue()


def unpack(data: bytes, source: str, most: int) -> dict[str, bytes]:
    """The members of a model file by name, each checked against the manifest.

    source : what messages call the file.  most : bytes that all members may have.
    """
    if not data.startswith(b"PK\x03\x04"):
        raise ModelFileError(f"{source} is no model file: expected one written by sparsebayes.save, got {_kind(data)}.")
    try:
        members = _members(data, source, most)
    except ModelFileError:
        raise
    except DAMAGE as error:
        raise ModelFileError(f"{source} is damaged or incomplete, and cannot be read: {reason(error)}.") from error
    if MANIFEST not in members:
        raise ModelFileError(
            f"{source} is no model file: expected one written by sparsebayes.save, got a zip archive of "
            f"something else, without {MANIFEST}."
        )
    manifest = from_json_bytes(members.pop(MANIFEST), f"{MANIFEST} of {source}")
    _check_version(manifest, source)
    _check_members(manifest, members, source)
    return members


def digest(manifest: dict[str, Any]) -> str:
    """SHA-256 of the lines of a manifest: format, version, package, and "name size sha256" of every member."""
    lines = [manifest["format"], str(manifest["version"]), manifest["package"]]
    lines += [f"{each['name']} {each['size']} {each['sha256']}" for each in manifest["members"]]
    return _sha256("".join(line + "\n" for line in lines).encode())


def check_archive(data: bytes, source: str, most: int) -> zipfile.ZipFile:
    """An archive whose members have names of their own and at most so many bytes together, as they say."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    if any(info.compress_type not in COMPRESSION for info in archive.infolist()):
        raise ModelFileError(f"{source} must have members that are stored or deflated, got another compression.")
    names = [info.filename for info in archive.infolist()]
    if len(set(names)) < len(names):
        raise ModelFileError(f"{source} must have every member once, got two of one name.")
    total = sum(info.file_size for info in archive.infolist())
    if total > most:
        raise ModelFileError(f"{source} holds {total} bytes, more than max_bytes={most}: raise that if you trust it.")
    if total > max(AFFORDABLE, EXPANSION * len(data)):
        raise ModelFileError(f"{source} has {len(data)} bytes that claim to expand to {total}, which no model does.")
    return archive


def _members(data: bytes, source: str, most: int) -> dict[str, bytes]:
    with check_archive(data, source, most) as archive:
        found = {}
        for info in archive.infolist():
            with archive.open(info) as member:
                found[info.filename] = member.read(info.file_size + 1)
            if len(found[info.filename]) != info.file_size:
                raise ModelFileError(f"{source} is damaged: {info.filename} does not have the size it should have.")
    return found


def _check_version(manifest: Any, source: str) -> None:
    """ModelFileError unless this version of the package can read the file."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(f"{source} is no model file: its {MANIFEST} must name the format {FORMAT!r}.")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"{source} is damaged: its format version must be a positive integer, got {version!r}.")
    if version > VERSION:
        raise ModelFileError(
            f"{source} has format version {version}, and this version of sparsebayes reads versions up to {VERSION}: "
            "upgrade sparsebayes."
        )


def _check_members(manifest: dict[str, Any], members: dict[str, bytes], source: str) -> None:
    """ModelFileError unless the members are those of the manifest, which must agree with its own checksum."""
    listed = manifest.get("members")
    plain = manifest.keys() == KEYS and isinstance(manifest["package"], str) and isinstance(listed, list)
    rows = listed if isinstance(listed, list) else []
    if not plain or not all(isinstance(row, dict) and row.keys() == {"name", "size", "sha256"} for row in rows):
        raise ModelFileError(f"{source} is damaged: its {MANIFEST} must have the keys {sorted(KEYS)}.")
    if manifest["sha256"] != digest(manifest):
        raise ModelFileError(f"{source} is damaged: the checksum of its list of members is wrong.")
    if [row["name"] for row in rows] != list(members):
        raise ModelFileError(f"{source} is damaged: its members must be those that {MANIFEST} lists, in that order.")
    for row in rows:
        found = members[row["name"]]
        if row["size"] != len(found) or row["sha256"] != _sha256(found):
            raise ModelFileError(f"{source} is damaged: the checksum of {row['name']} is wrong.")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _kind(data: bytes) -> str:
    """What a file that is no zip archive seems to be."""
    starts = (name for start, name in KNOWN_STARTS.items() if (data.startswith(start) if start else not data))
    return next(starts, f"bytes that begin with {data[:8]!r}")
