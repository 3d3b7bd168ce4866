"""The command of the retention entrypoint."""

from __future__ import annotations

from toolkit.cli import action_options as options
from toolkit.cli.options import ConfigRepo, Env
from toolkit.rendering.tables import ResultFormat


def retention(
    *,
    time: options.Time,
    feed: options.Feeds = None,
    all_feeds: options.All = False,
    group: options.Groups = None,
    tag: options.Tags = None,
    cluster: options.Clusters = None,
    all_clusters: options.AllClusters = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    dry_run: options.DryRun = False,
    approve: options.Approve = None,
    allow_dirty: options.AllowDirty = False,
    no_ledger: options.NoLedger = False,
    output: options.OutputAs = ResultFormat.TEXT,
    result_file: options.ResultFileAt = None,
) -> int:
    """Evict the instances that are older than the retention limit of their feed."""
    from toolkit.actions.choosing import EntitySelection
    from toolkit.bootstrap.action_context import ActionOptions
    from toolkit.bootstrap.retention import evict
    from toolkit.cli.action_command import ActionCommand, nominal_time_of, result_file_of
    from toolkit.cli.option_values import tags_of
    from toolkit.rendering.retention import RETENTION_VIEW
    from toolkit.retention import NAME

    file = result_file_of(result_file, config_repo, env)
    command = ActionCommand(name=NAME, run=evict, view=RETENTION_VIEW, form=output, file=file)
    with command.failures_delivered():
        selection = EntitySelection(
            names=tuple(feed or ()),
            everything=all_feeds,
            groups=tuple(group or ()),
            tags=tuple(tags_of(tag or ()).items()),
            clusters=tuple(cluster or ()),
            all_clusters=all_clusters,
        )
        return command.execute(
            ActionOptions(
                selection=selection,
                config_repo=config_repo,
                environment=env,
                nominal_time=nominal_time_of(time),
                dry_run=dry_run,
                approve=approve,
                allow_dirty=allow_dirty,
                no_ledger=no_ledger,
            )
        )
