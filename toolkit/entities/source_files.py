"""Meaning of the files of a config repo (DESIGN section 4)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Protocol

from toolkit.entities.problems import ConfigProblem
from toolkit.entities.vocabulary import Kind

REPO_FILE = "repo.yaml"
HOLDS_FILE = "holds.yaml"
DEFAULTS_NAME = "defaults.yaml"
ENVIRONMENTS_FOLDER = "environments"
SUITES_FOLDER = "expectations"
CALENDARS_FOLDER = "calendars"
TEMPLATES_FOLDER = "templates"
SUFFIX = ".yaml"
JSON_SUFFIX = ".json"
"""Ending of suites that Great Expectations wrote, and of nothing else."""
_OWN_PREFIX = ".feedctl"

_KIND_OF_FOLDER = {kind.folder: kind for kind in Kind}
_ROOT_FILES = frozenset({REPO_FILE, HOLDS_FILE, DEFAULTS_NAME})
_ROOT_FILE_OF_STEM = {
    "repo": REPO_FILE,
    "hold": HOLDS_FILE,
    "holds": HOLDS_FILE,
    "default": DEFAULTS_NAME,
    "defaults": DEFAULTS_NAME,
}
_PLACES = frozenset({*_KIND_OF_FOLDER, ENVIRONMENTS_FOLDER, SUITES_FOLDER, CALENDARS_FOLDER, TEMPLATES_FOLDER})
_PLACE_OF_FOLDER = {
    **{place: f"{place}/" for place in _PLACES},
    **{str(kind): f"{kind.folder}/" for kind in Kind},
    "environment": f"{ENVIRONMENTS_FOLDER}/",
    "expectation": f"{SUITES_FOLDER}/",
    "calendar": f"{CALENDARS_FOLDER}/",
    "template": f"{TEMPLATES_FOLDER}/",
    "hold": HOLDS_FILE,
    "holds": HOLDS_FILE,
}
_SUFFIXES = (SUFFIX, ".yml", JSON_SUFFIX)
"""Endings of files that may be meant as configuration."""


_SCRIPT_SUFFIXES = (
    *(".sql", ".hql", ".py", ".sh", ".bash", ".R", ".scala", ".yaml", ".yml"),
    *(".avsc", ".json", ".xml", ".conf", ".cfg", ".ini", ".properties", ".toml", ".env"),
)


class ConfigFiles(Protocol):
    """Files of a config repo; a snapshot is one."""

    @property
    def files(self) -> Mapping[str, bytes]:
        """Content of the files that `is_config_file` picks, by path with `/`."""
        ...

    @property
    def names(self) -> Collection[str]:
        """Paths of all other files."""
        ...

    @property
    def problems(self) -> Collection[ConfigProblem]:
        """Files that could not be read."""
        ...


def is_config_file(path: str) -> bool:
    """Return whether a file is configuration: entities, defaults, environments, suites, repo.yaml, holds.yaml."""
    if not path.endswith(SUFFIX) and not path.endswith(JSON_SUFFIX):
        return False
    parts = PurePosixPath(path).parts if "/." in f"/{path}" else path.split("/")  # asked of every file of a repo
    if path.endswith(JSON_SUFFIX) and parts[0] != SUITES_FOLDER:
        return False
    return not any(part.startswith(".") for part in parts) and (path in _ROOT_FILES or parts[0] in _PLACES)


def is_script(path: str) -> bool:
    """Return whether a file that is no configuration can be a script or a setting that people write."""
    name = path.rpartition("/")[2]
    return "." not in name or name.endswith(_SCRIPT_SUFFIXES)


def is_config_place(path: str) -> bool:
    """Return whether configuration can be at or below a path."""
    return is_config_file(path) or path.partition("/")[0] in _PLACES


def settings_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a repo that hold its settings: repo.yaml and the environments."""
    return {path: data for path, data in files.items() if path == REPO_FILE or environment_name(path) is not None}


def entity_kind(path: str) -> Kind | None:
    """The kind of the entity in a file, by its folder; None when the file is no entity."""
    if path.rpartition("/")[2] == DEFAULTS_NAME:
        return None
    return _KIND_OF_FOLDER.get(path.partition("/")[0]) if "/" in path else None


def environment_name(path: str) -> str | None:
    """The name of the environment in a file; None when the file is no environment."""
    folder, _, name = path.partition("/")
    if folder != ENVIRONMENTS_FOLDER or "/" in name or not name.endswith(SUFFIX):
        return None
    return name.removesuffix(SUFFIX)


def suite_name(path: str) -> str | None:
    """The name of the suite of expectations in a file; None when the file is none."""
    name = path.rpartition("/")[2]
    if path.partition("/")[0] != SUITES_FOLDER or path == SUITES_FOLDER or name == DEFAULTS_NAME:
        return None
    return name.removesuffix(JSON_SUFFIX).removesuffix(SUFFIX)


def calendar_name(path: str) -> str | None:
    """Return the name of the calendar in a file, or None for any other file."""
    return _name_in(CALENDARS_FOLDER, path)


def template_name(path: str) -> str | None:
    """Return the name of the type of mirrors in a file, or None for any other file."""
    return _name_in(TEMPLATES_FOLDER, path)


def _name_in(wanted: str, path: str) -> str | None:
    folder, _, name = path.partition("/")
    if folder != wanted or "/" in name or not name.endswith(SUFFIX) or name == DEFAULTS_NAME:
        return None
    return name.removesuffix(SUFFIX)


def entity_name(path: str) -> str:
    """The name that the entity in a file must have."""
    return path.rpartition("/")[2].removesuffix(SUFFIX)


def defaults_for(path: str) -> Iterator[str]:
    """The defaults files that may hold for a file, from the root down."""
    yield DEFAULTS_NAME
    end = path.find("/")
    while end >= 0:
        yield f"{path[:end]}/{DEFAULTS_NAME}"
        end = path.find("/", end + 1)


def misnamed_files(names: Collection[str]) -> Iterator[ConfigProblem]:
    """Files that look like configuration and would be silently left out."""
    for name in names:
        folder = name.partition("/")[0]
        if folder in _ROOT_FILES and folder != name:
            yield folder_problem(folder)
        elif (place := _place_meant(name)) is not None:
            message = f"found the folder {folder}/, expected {place}"
            hint = "move the file" if place.endswith("/") else f"put it all into {place}"
            yield ConfigProblem(file=name, rule="file-name", message=message, hint=hint)
        elif _root_file_meant(name) is not None:
            message = f"found the file {name}, expected {_root_file_meant(name)}"
            yield ConfigProblem(file=name, rule="file-name", message=message, hint="rename the file")
        elif _is_misnamed(name):
            found = PurePosixPath(name).suffix
            message = f"found the ending {found}, expected {SUFFIX}"
            yield ConfigProblem(file=name, rule="file-name", message=message, hint="rename the file")


def git_folders(repo: ConfigFiles) -> Iterator[ConfigProblem]:
    """Folders that git, started in them, would take for a git directory: it runs what a config there names."""
    paths = {*repo.files, *repo.names, *(problem.file for problem in repo.problems)}
    heads = [path for path in paths if path.rpartition("/")[2] == "HEAD"]
    known = _with_folders(paths) if heads else set()
    for head in heads:
        folder = head.removesuffix("HEAD")
        if {f"{folder}objects", f"{folder}refs"} <= known:
            message = "found HEAD, objects and refs side by side: git takes the folder for a git directory"
            yield ConfigProblem(file=head, rule="git-directory-in-repo", message=message, hint="remove or rename HEAD")


def _with_folders(paths: Iterable[str]) -> set[str]:
    known: set[str] = set()
    for path in paths:
        above = path
        while above and above not in known:
            known.add(above)
            above = above.rpartition("/")[0]
    return known


def folder_problem(name: str) -> ConfigProblem:
    """A folder in the place of a file."""
    return ConfigProblem(file=name, rule="unreadable", message="found a folder, expected a file", hint="write the file")


def own_files(names: Collection[str]) -> Iterator[ConfigProblem]:
    """Files and links of the repo that take the place of what feedctl keeps on the machine, such as its ledger."""
    for name in sorted(names):
        if any(part.startswith(_OWN_PREFIX) for part in name.split("/")):
            message = f"found {name} in the config repo, expected names with {_OWN_PREFIX} to be feedctl's own"
            hint = "remove it from the config repo: feedctl makes such files where it runs, and git ignores them"
            yield ConfigProblem(file=name, rule="own-file", message=message, hint=hint)


def _place_meant(name: str) -> str | None:
    """Return the likely intended place of a file in a folder of another case, or in the singular."""
    folder, slash, _ = name.partition("/")
    if not slash or folder in _PLACES or not name.casefold().endswith(_SUFFIXES):
        return None
    return _PLACE_OF_FOLDER.get(folder.casefold())


def _root_file_meant(name: str) -> str | None:
    """The file of the root that one in another case, in the singular, or with another ending must have meant."""
    path = PurePosixPath(name)
    if "/" in name or path.suffix.casefold() not in _SUFFIXES or name in _ROOT_FILES:
        return None
    return _ROOT_FILE_OF_STEM.get(path.stem.casefold())


def _is_misnamed(name: str) -> bool:
    parts = PurePosixPath(name).parts
    if any(part.startswith(".") for part in parts) or not name.casefold().endswith((".yml", SUFFIX)):
        return False
    if name.endswith(SUFFIX):  # rightly named, and no file: reading the repo reported what it is instead
        return False
    return parts[0] in _PLACES
