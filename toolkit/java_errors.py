"""Exceptions of a JVM beside that of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py4j.protocol import get_return_value, is_error

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


def keep_from_spark(gateway: JavaGateway) -> None:
    """Have the exceptions of a gateway's JVM reach the caller as Py4JJavaError, whatever Spark does in this process.

    With a session, pyspark looks at every exception of py4j, to raise its own, and asks Spark's JVM about the object.
    The number of an object of another JVM is there another object, or none: the exception is lost in another error.
    """
    client = gateway._gateway_client  # noqa: SLF001 - py4j has no public way to it
    send = client.send_command

    def send_command(command: str, *more: bool, **options: bool) -> object:
        answer = send(command, *more, **options)
        text = answer[0] if isinstance(answer, tuple) else answer  # `binary` gives the connection too
        if is_error(text)[0]:
            get_return_value(text, client)  # raises, by py4j's own function, before pyspark's is called
        return answer

    client.send_command = send_command
