"""SQL of suites, checked before it runs: one SELECT over the batch, of plan nodes and functions that are known.

Spark's own parser reads the text, so that nothing can look otherwise to the check than to Spark. Whatever is not on the
lists below is refused: other tables and paths, commands, scripts, hints, table functions, reflection, UDFs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import is_instance_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TREE = "org.apache.spark.sql.catalyst.trees.TreeNode"
_RELATION, _FUNCTION = "UnresolvedRelation", "UnresolvedFunction"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLANS = _words(
    """
    UnresolvedRelation OneRowRelation OneRowRelation$ Project Filter SubqueryAlias UnresolvedSubqueryColumnAliases
    Aggregate UnresolvedHaving GroupingSets Rollup Cube Sort Distinct GlobalLimit LocalLimit Offset Join Union
    Except Intersect WithWindowDefinition
    """
)
_EXPRESSIONS = _words(
    """
    UnresolvedFunction UnresolvedAttribute UnresolvedStar UnresolvedAlias UnresolvedExtractValue UnresolvedOrdinal
    Alias Literal Cast And Or Not EqualTo EqualNullSafe LessThan LessThanOrEqual GreaterThan GreaterThanOrEqual In
    IsNull IsNotNull Like ILike LikeAll LikeAny NotLikeAll NotLikeAny RLike CaseWhen Add Subtract Multiply Divide
    IntegralDivide Remainder UnaryMinus UnaryPositive BitwiseAnd BitwiseOr BitwiseXor BitwiseNot ShiftLeft
    ShiftRight ShiftRightUnsigned Concat Substring StringLocate StringTrim StringTrimLeft StringTrimRight Overlay
    Extract TimestampAdd TimestampDiff CurrentDate CurrentTimestamp CreateStruct CreateNamedStruct SortOrder
    LambdaFunction UnresolvedNamedLambdaVariable WindowExpression UnresolvedWindowExpression WindowSpecDefinition
    WindowSpecReference SpecifiedWindowFrame CurrentRow$ UnboundedPreceding$ UnboundedFollowing$ UnspecifiedFrame$
    """
)
_SUBQUERIES = _words(
    """
    Exists InSubquery ListQuery ScalarSubquery
    """
)
_FUNCTIONS = _words(
    """

    any any_value approx_count_distinct array_agg avg bit_and bit_or bit_xor bool_and bool_or collect_list
    collect_set corr count count_if covar_pop covar_samp cume_dist dense_rank every first first_value kurtosis lag
    last last_value lead max max_by mean median min min_by mode nth_value ntile percent_rank percentile
    percentile_approx percentile_cont percentile_disc rank regr_count row_number skewness some std stddev stddev_pop
    stddev_samp sum try_avg try_sum var_pop var_samp variance
    between bigint binary boolean cast coalesce date decimal double float greatest if ifnull int isnan isnotnull
    isnull least nanvl nullif nvl nvl2 smallint string timestamp tinyint try_add try_divide try_multiply
    try_subtract try_to_number try_to_timestamp typeof
    abs acos asin atan atan2 bround cbrt ceil ceiling cos degrees div e exp floor hypot ln log log10 log2 mod
    negative pi pmod positive pow power radians round sign signum sin sqrt tan width_bucket
    ascii base64 bit_length btrim char char_length character_length chr concat concat_ws contains crc32 decode
    encode endswith find_in_set format_number hex initcap instr lcase left length levenshtein locate lower lpad
    ltrim md5 octet_length overlay position regexp regexp_count regexp_extract regexp_extract_all regexp_instr
    regexp_like regexp_replace regexp_substr replace reverse right rlike rpad rtrim sha sha1 sha2 soundex space
    split split_part startswith substr substring substring_index to_char to_number translate trim ucase unbase64
    unhex upper xxhash64
    add_months current_date current_timestamp date_add date_diff date_format date_part date_sub date_trunc dateadd
    datediff datepart day dayofmonth dayofweek dayofyear extract from_unixtime from_utc_timestamp hour last_day
    make_date make_timestamp minute month months_between next_day now quarter second timestamp_micros
    timestamp_millis timestamp_seconds to_date to_timestamp to_unix_timestamp to_utc_timestamp trunc unix_date
    unix_timestamp weekday weekofyear year
    aggregate array array_contains array_distinct array_except array_intersect array_join array_max array_min
    array_position array_remove array_size array_sort array_union arrays_overlap arrays_zip cardinality element_at
    exists filter flatten forall from_json get get_json_object json_array_length json_object_keys map
    map_contains_key map_entries map_from_arrays map_keys map_values named_struct reduce sequence size slice
    sort_array struct to_json transform transform_keys transform_values
    """
)


class RefusedSqlError(ValueError):
    """SQL of a suite that is more than a SELECT over the batch.

    Args:
        kind: of what else is in it.
        name: its name.
    """

    def __init__(self, *, kind: str = "part", name: str) -> None:
        super().__init__(
            f"found the {kind} {name} in SQL of a suite, expected one SELECT over the batch with known functions"
        )


def require_select(session: SparkSession, text: str, *, view: str) -> None:
    """Refuse a query that is not one SELECT over a view.

    Args:
        session: whose parser reads it, with the settings with which it runs.
        text: as Spark gets it.
        view: the only relation in it.

    Raises:
        RefusedSqlError: there is more in it.
        ParseException: it is no SQL.
    """
    _require_known(session, _parser(session).parsePlan(text), _PLANS | _EXPRESSIONS | _SUBQUERIES, view)


def require_condition(session: SparkSession, text: str) -> None:
    """Refuse a condition that is not computed from the columns of one row; see `require_select` for the errors."""
    _require_known(session, _parser(session).parseExpression(text), _EXPRESSIONS, "")


def _parser(session: SparkSession) -> Any:  # noqa: ANN401 - an object of Java
    return session._jsparkSession.sessionState().sqlParser()  # noqa: SLF001 - PySpark has no other way to it


def _require_known(session: SparkSession, root: Any, known: frozenset[str], view: str) -> None:  # noqa: ANN401
    for node in _nodes(session, root):
        name = node.getClass().getSimpleName()
        if name not in known:
            raise RefusedSqlError(name=name)
        if name == _RELATION and (relation := node.multipartIdentifier().mkString(".")) != view:
            raise RefusedSqlError(kind="relation", name=relation)
        if name == _FUNCTION and (function := node.nameParts().mkString(".")).lower() not in _FUNCTIONS:
            raise RefusedSqlError(kind="function", name=function)


def _nodes(session: SparkSession, root: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield all nodes of a tree, also nodes in other values of a node, such as the plan of a subquery."""
    gateway = session.sparkContext._gateway  # noqa: SLF001 - the same
    left = [root]
    while left:
        value = left.pop()
        if not hasattr(value, "getClass"):
            continue  # a text or a number, which is Python's by now
        if is_instance_of(gateway, value, _TREE):
            yield value
        if is_instance_of(gateway, value, "scala.collection.Iterable"):
            values = value.iterator()
        elif is_instance_of(gateway, value, "scala.Product"):
            values = value.productIterator()
        else:
            continue
        while values.hasNext():
            left.append(values.next())
