"""The options of a question about instances, as they were given."""

from __future__ import annotations

from dataclasses import dataclass, fields

from toolkit.cli.instance_options import OrderBy, SortOrder


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What chooses and arranges the answers."""

    filter_by: tuple[str, ...] = ()
    order_by: OrderBy = OrderBy.INSTANCE
    sort_order: SortOrder | None = None
    offset: int = 0
    limit: int | None = None
    all_attempts: bool = False

    def require_none(self) -> None:
        """Refuse options that would have no effect, rather than ignore them.

        Raises:
            BadOption: one was given.
        """
        from toolkit.cli.filters import BadOption

        for field in fields(self):
            found = getattr(self, field.name)
            if found != field.default:
                option = f"--{field.name.replace('_', '-')}"
                expected = "--life-cycle beside it: only runs that were recorded can be chosen so"
                raise BadOption(option=option, found=str(found), expected=expected)
