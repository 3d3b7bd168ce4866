"""`feedctl run get-files|get-etl-driver|get-properties|register-file|enqueue`."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli import run_options as given
from toolkit.cli.completion import entity_names
from toolkit.cli.options import ConfigRepo, Env, print_json
from toolkit.cli.run_calls import calls

_Min = Annotated[int | None, typer.Option("--min-batch", metavar="ID", help="The first batch.")]
_Max = Annotated[int | None, typer.Option("--max-batch", metavar="ID", help="The last batch.")]


def get_files(
    min_batch: _Min = None,
    max_batch: _Max = None,
    run: given.RunId = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Print the files of a job's batches (--run), or those of a range of batches, whosever they are."""
    from toolkit.rendering.run_metadata import files_documents

    with calls(config_repo, env, writing=False) as metadata:
        if run is not None:
            found = metadata.files_of_job(run)
        else:
            found = metadata.get_files(*_range(min_batch, max_batch, "run get-files"))
        print_json({"files": files_documents(found)})


def get_etl_driver(
    min_batch: _Min = None, max_batch: _Max = None, config_repo: ConfigRepo = None, env: Env = None
) -> None:
    """Print the files of a range of batches as one text: batch,server,path,size,hash,timestamp;..."""
    with calls(config_repo, env, writing=False) as metadata:
        print_json({"etl_driver": metadata.get_etl_driver(*_range(min_batch, max_batch, "run get-etl-driver"))})


def get_properties(
    process: given.Process,
    cluster: given.Cluster,
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="NAME", help="Only this config group: the keys' part up to the first dot."),
    ] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Print the registered properties of a process, of one config group or all."""
    from toolkit.ledger.registry.registration import Site

    with calls(config_repo, env, writing=False) as metadata:
        found = metadata.get_properties(Site(name=process, cluster=cluster), group)
        print_json(
            {
                "properties": {each.key: each.value for each in found},
                "groups": {each.key: each.config_group for each in found},
            }
        )


def register_file(
    server: given.Server,
    path: given.Path,
    size: given.Size,
    digest: given.Hash = None,
    modified_at: given.ModifiedAt = None,
    batch: given.Batch = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Register a file in a batch; the same file of the same batch again changes nothing."""
    from toolkit.rendering.run_metadata import file_document

    with calls(config_repo, env) as metadata:
        new = given.new_file(server, path, size, digest, modified_at)
        print_json({"file": file_document(metadata.register_file(new, batch_id=batch))})


def enqueue(
    source: Annotated[
        str,
        typer.Option("--source", metavar="NAME", autocompletion=entity_names, help="The feed or process it is from."),
    ],
    cluster: given.Cluster,
    server: given.Server,
    path: given.Path,
    size: given.Size,
    digest: given.Hash = None,
    modified_at: given.ModifiedAt = None,
    batch: given.Batch = None,
    marking: given.Marking = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="FEED=INSTANT[=URI]", help="The feed instance that the batch stands for."),
    ] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Register a file and enqueue its batch for every step downstream of its source."""
    from toolkit.ledger.registry.registration import Site
    from toolkit.rendering.run_metadata import enqueued_document

    with calls(config_repo, env) as metadata:
        new = given.new_file(server, path, size, digest, modified_at)
        made = given.instances("--output", [] if output is None else [output], cluster)
        enqueued = metadata.enqueue(
            Site(name=source, cluster=cluster),
            new,
            batch_id=batch,
            marking=marking,
            instance=next(iter(made), None),
        )
        print_json(enqueued_document(enqueued))


def _range(first: int | None, last: int | None, command: str) -> tuple[int, int]:
    """Both ends of a range of batches.

    Raises:
        MissingOption: one of them was not given.
    """
    from toolkit.cli.filters import MissingOption

    if first is None:
        raise MissingOption(option="--min-batch", command=command)
    if last is None:
        raise MissingOption(option="--max-batch", command=command)
    return first, last
