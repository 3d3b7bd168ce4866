"""Asking the NameNodes of a WebHDFS: one request, within a time limit, at the one that is active."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from urllib.parse import quote, urlsplit

from requests import PreparedRequest, RequestException, Response, Session

from toolkit.foreign_json import MOST_VALUES, BadJson, parse_json
from toolkit.storage.attributes import ANY_LAYOUT, BlockLayout
from toolkit.storage.calls import CALL_SECONDS, BoundedCalls, NoAnswer
from toolkit.storage.errors import BadName, StorageError, StorageFailure, Unreachable
from toolkit.storage.hdfs.errors import is_not_active
from toolkit.storage.http_bodies import body_of
from toolkit.storage.streams import BodyTooLong
from toolkit.storage.webhdfs.answers import Upload, refusal, remote_exception, silence, stream_of, was_not_sent
from toolkit.storage.webhdfs.values import entries_of

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage.port import Entry


_Answer = TypeVar("_Answer")

CONNECT_SECONDS = 5.0
"""So long a connection may take; behind it every pause between two bytes may take `CALL_SECONDS`."""

_PREFIX = "/webhdfs/v1"
_OK, _CREATED, _REDIRECT = 200, 201, 307
_LISTING, _LISTING_TIMES = "LISTSTATUS", 10  # a whole directory is in one answer
_PIECE_BYTES = 256 << 10
_MOST_BYTES = 4 << 20
"""An answer about one entry has some hundred bytes, and 32 attributes of 16 kB in the longest case."""
_MOST_LONG_BYTES = 64 << 20
"""Size of the difference of about half a million changes."""
_HEADERS = {"content-type": "application/octet-stream"}  # HttpFS refuses a write without


class NameNodes:
    """Sends requests; safe to use from several threads.

    Args:
        urls: base addresses, at least one.
        session: proves the identity.
        seconds: how long the server may be silent, and how long each piece of a file may take.
        whole: how long an answer may take, a listing ten times as long; None: as long as the silences of all NameNodes.
    """

    def __init__(
        self, urls: Sequence[str], session: Session, seconds: float = CALL_SECONDS, *, whole: float | None = None
    ) -> None:
        self._urls, self._session = urls, session
        self._timeout = (CONNECT_SECONDS, seconds)
        self._active = 0
        whole = len(urls) * (CONNECT_SECONDS + seconds) if whole is None else whole
        self._calls, self._listings = BoundedCalls(whole), BoundedCalls(whole * _LISTING_TIMES)
        self._bodies = BoundedCalls(seconds)

    def _request(self, method: str, path: CanonicalPath, op: str, params: Mapping[str, str]) -> Response:
        """The answer to one operation, a redirection included; the caller closes it.

        A NameNode that is on standby, or that the request did not get to, did nothing: the next one is asked. One
        that took the request and then was silent is not asked again here: what it was told **may still happen**.

        Raises:
            BadName: the path can't be sent.
            StorageError: what the NameNode said.
        """
        place = _quoted(path)
        failure: StorageError | None = None
        for _ in self._urls:
            active = self._active
            url = f"{self._urls[active % len(self._urls)]}{_PREFIX}{place}"
            try:
                response = self._sent(method, url, {"op": op, **params})
            except RequestException as error:
                self._switched(active)
                failure = silence(path, error)
                if was_not_sent(error):
                    continue
                raise failure from error
            if response.ok:
                return response
            with closing(response):
                failure = refusal(path, response)
                if not is_not_active(remote_exception(response).java_class):
                    raise failure
                self._switched(active)
        raise failure or StorageFailure(path=path, detail="no NameNode is known")

    def answer(self, method: str, path: CanonicalPath, op: str, **params: str) -> object:
        """The JSON of the answer, None for an empty one.

        Raises:
            StorageFailure: it is none of success, such as a redirection of a proxy to where one signs in.
            Unreachable: it took too long as a whole, though bytes went on.
        """
        return self._bounded(path, lambda: self._answered(method, path, op, params), self._calls)

    def long_answer(self, path: CanonicalPath, op: str, **params: str) -> object:
        """Return the JSON of an answer about many entries; as `answer`, with the time of a listing."""
        most = _MOST_LONG_BYTES
        return self._bounded(path, lambda: self._answered("GET", path, op, params, most), self._listings)

    def entries(self, path: CanonicalPath) -> list[Entry]:
        """Return the entries in the answer to LISTSTATUS, which is parsed while it comes.

        Raises:
            StorageFailure: it is no such answer.
            Unreachable: it took too long as a whole, though bytes went on.
        """

        def request() -> list[Entry]:
            with closing(self._request("GET", path, _LISTING, {})) as response:
                _refuse_other(path, response, _OK)
                try:
                    return entries_of(path, response.iter_content(_PIECE_BYTES))
                except RequestException as error:
                    raise silence(path, error) from error

        return self._bounded(path, request, self._listings)

    def _bounded(self, path: CanonicalPath, call: Callable[[], _Answer], calls: BoundedCalls) -> _Answer:
        active = self._active
        try:
            return calls.run(call)
        except NoAnswer as error:
            self._switched(active)
            raise Unreachable(path=path, detail=str(error)) from error

    def _answered(
        self, method: str, path: CanonicalPath, op: str, params: Mapping[str, str], most: int = _MOST_BYTES
    ) -> object:
        with closing(self._request(method, path, op, params)) as response:
            _refuse_other(path, response, _OK)
            return _json(path, response, most)

    def opened(self, path: CanonicalPath, offset: int = 0, length: int | None = None) -> BinaryIO:
        """The bytes of a file, from the DataNode that the NameNode names; each piece has the limit of a call."""
        params = {"offset": str(offset)} if length is None else {"offset": str(offset), "length": str(length)}
        response = self._bounded(path, lambda: self._from_data_node(path, "OPEN", params), self._calls)
        return stream_of(response, path, self._bodies)

    def checksum(self, path: CanonicalPath) -> object:
        """The JSON of the answer to GETFILECHECKSUM, which a DataNode gives."""

        def request() -> object:
            with closing(self._from_data_node(path, "GETFILECHECKSUM", {})) as response:
                return _json(path, response)

        return self._bounded(path, request, self._calls)

    def close(self) -> None:
        """End the connections that wait for a next request."""
        self._session.close()

    def _from_data_node(self, path: CanonicalPath, op: str, params: Mapping[str, str]) -> Response:
        response = self._request("GET", path, op, params)
        if response.status_code == _OK:
            return response
        with closing(response):
            _refuse_other(path, response, _REDIRECT)
            return self._at_data_node("GET", path, response.headers.get("location", ""), None)

    def sent(
        self, path: CanonicalPath, chunks: Iterable[bytes], *, about: CanonicalPath, layout: BlockLayout = ANY_LAYOUT
    ) -> None:
        """Make a file with these bytes where nothing is; each piece has the limit of a call, and so has the answer.

        What the source of the chunks raises is raised when the request has ended; the file may be there then.

        Args:
            path: of the new file.
            chunks: the bytes.
            about: what errors name.
            layout: of the file.

        Raises:
            StorageError: what the NameNode or the DataNode said.
        """
        location = self._bounded(about, lambda: self._created(path, about, layout), self._calls)
        upload = Upload(self._bodies.seconds)
        try:
            with self._bodies.started(lambda: self._taken(path, about, location, upload)) as request:
                try:
                    upload.send(chunks)
                finally:
                    request.has_ended()
                request.answer()
        except NoAnswer as error:
            raise Unreachable(path=about, detail=str(error)) from error

    def _created(self, path: CanonicalPath, about: CanonicalPath, layout: BlockLayout) -> str:
        # A name that is unique to this run: what is there can only be the rest of a first try.
        chosen = {"blocksize": layout.block_size, "replication": layout.replication}
        params = {"overwrite": "false", "createparent": "false"}
        params |= {key: str(value) for key, value in chosen.items() if value is not None}
        with _naming(about), closing(self._request("PUT", path, "CREATE", params)) as response:
            _refuse_other(path, response, _REDIRECT)
            return response.headers.get("location", "")

    def _taken(self, path: CanonicalPath, about: CanonicalPath, location: str, upload: Upload) -> None:
        try:
            with _naming(about):
                self._at_data_node("PUT", path, location, upload).close()
        finally:
            upload.end()

    def _at_data_node(
        self, method: str, path: CanonicalPath, location: str, chunks: Iterable[bytes] | None
    ) -> Response:
        """Send one request to where a NameNode points, which may be any host: DataNodes are in no settings.

        That NameNode was one that may have the token, and it put into the address what it wants the DataNode to
        have. So nothing is added here: no token, and no ticket unless it is the same server (HttpFS) again.
        """
        url = _with_own_path(location, path)
        self._refuse_less(path, url)
        mine = any(url.startswith(f"{each}/") for each in self._urls)
        try:
            response = self._sent(
                method, url, dict.fromkeys(_keys(self._session.params)), chunks, auth=None if mine else _as_is
            )
        except RequestException as error:
            raise silence(path, error) from error
        if response.status_code in {_OK, _CREATED}:
            return response
        with closing(response):
            if not response.ok:
                raise refusal(path, response)
            raise _other(path, response, _OK)

    def _refuse_less(self, path: CanonicalPath, url: str) -> None:
        """Refuse to send an address with a token over HTTP when it was got over HTTPS."""
        if url.startswith("http:") and self._urls[0].startswith("https:"):
            found = "the NameNode, asked over https, sends to a DataNode over http"
            raise StorageFailure(path=path, detail=f"{found}; set dfs.http.policy to HTTPS_ONLY there, or use webhdfs:")

    def _sent(
        self,
        method: str,
        url: str,
        params: Mapping[str, str | None],
        chunks: Iterable[bytes] | None = None,
        auth: Callable[[PreparedRequest], PreparedRequest] | None = None,
    ) -> Response:
        return self._session.request(
            method,
            url,
            params=params,
            data=chunks,
            headers=_HEADERS,
            auth=auth,
            timeout=self._timeout,
            allow_redirects=False,
            stream=True,
        )

    def _switched(self, active: int) -> None:
        """Another thread may have gone on to the next one already."""
        if self._active == active:
            self._active = active + 1


@contextmanager
def _naming(path: CanonicalPath) -> Iterator[None]:
    """Errors name the file, not the temporary name that it has at first."""
    try:
        yield
    except StorageError as error:
        raise type(error)(path=path, detail=error.detail) from error


def _json(path: CanonicalPath, response: Response, most: int = _MOST_BYTES) -> object:
    try:
        body = body_of(response, most)
        return parse_json(body, most_bytes=most, most_values=max(MOST_VALUES, most >> 4)) if body else None
    except RequestException as error:
        raise silence(path, error) from error
    except (BodyTooLong, BadJson) as error:
        raise StorageFailure(path=path, detail=f"the answer is not that of WebHDFS: {error}") from error


def _refuse_other(path: CanonicalPath, response: Response, expected: int) -> None:
    if response.status_code != expected:
        raise _other(path, response, expected)


def _other(path: CanonicalPath, response: Response, expected: int) -> StorageFailure:
    """Without the address of a redirection, which may carry a token."""
    found = f"HTTP {response.status_code} where WebHDFS says {expected}"
    return StorageFailure(path=path, detail=f"{found}; is a proxy in between that wants a sign-in?")


def _quoted(path: CanonicalPath) -> str:
    try:
        return quote(path.path, safe="/")
    except UnicodeEncodeError as error:
        raise BadName(path=path, detail="it is no Unicode text") from error


def _with_own_path(location: str, path: CanonicalPath) -> str:
    """The NameNode composes letters and their accents (NFC) in the address that it names, which is another file."""
    parts = urlsplit(location)
    if not parts.netloc:
        raise StorageFailure(path=path, detail="the NameNode named no DataNode")
    return parts._replace(path=_PREFIX + _quoted(path)).geturl()


def _as_is(request: PreparedRequest) -> PreparedRequest:
    """Stands for the session's own way to prove who it is, which `None` would mean."""
    return request


def _keys(params: object) -> list[str]:
    return [str(key) for key in params] if isinstance(params, Mapping) else []
