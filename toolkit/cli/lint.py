"""`feedctl lint`: what is wrong in the config repo."""

from __future__ import annotations

from toolkit.cli import lint_options as given
from toolkit.cli.lint_format import LintFormat


def lint(
    paths: given.Paths = None,
    config_repo: given.Repo = None,
    env: given.Env = None,
    all_envs: given.AllEnvs = False,
    form: given.Format = LintFormat.TEXT,
    select: given.Select = None,
    ignore: given.Ignore = None,
    baseline: given.BaselineName = None,
    write_baseline: given.WriteBaseline = False,
    against: given.Against = None,
    time: given.Time = None,
    changed_first: given.ChangedFirst = False,
) -> int:
    """Check the config repo: exit code 1 when there is an error or a warning that nothing accepts."""
    from toolkit.cli.linting import LintOptions, Prefixes, exit_code, for_terminal, keeps, lint_config_repo, render
    from toolkit.cli.printing import print_result
    from toolkit.clock import SystemClock

    options = LintOptions(
        paths=tuple(paths or ()),
        changed_first=changed_first,
        config_repo=config_repo,
        environment=env,
        all_environments=all_envs,
        select=tuple(select or ()),
        ignore=tuple(ignore or ()),
        baseline=baseline,
        write_baseline=write_baseline,
        against=against,
        time=time,
    )
    report = lint_config_repo(options, SystemClock())
    print_result(render(report, form, Prefixes.of(config_repo), colours=for_terminal()), keeps(form))
    return exit_code(report)
