"""IO: a gRPC server before a real Temporal. It refuses some calls, as Temporal Cloud does, and passes on the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

OPERATOR_SERVICE = "temporal.api.operatorservice.v1.OperatorService"
UNAUTHORIZED = "Request unauthorized."


@contextmanager
def front(target: str, refused: Mapping[str, grpc.StatusCode], *, empty: Collection[str] = ()) -> Iterator[str]:
    """The address of the front. `refused` has the status for each service or method that it refuses.

    A method is written as `service/method`. It gives an answer without any field to the methods in `empty`. Only calls
    with one request and one answer pass.
    """
    with grpc.insecure_channel(target) as server, ThreadPoolExecutor(max_workers=4) as threads:
        made = grpc.server(threads, handlers=(_Relay(server, refused, empty),))
        port = made.add_insecure_port("127.0.0.1:0")
        made.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            made.stop(grace=None).wait()


class _Relay(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, server: grpc.Channel, refused: Mapping[str, grpc.StatusCode], empty: Collection[str]) -> None:
        self._server = server
        self._refused = refused
        self._empty = empty

    def service(self, details: Any) -> grpc.RpcMethodHandler:
        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            return self._answer(str(details.method), request, context)

        return grpc.unary_unary_rpc_method_handler(answer)

    def _answer(self, path: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        method = path.removeprefix("/")
        status = self._refused.get(method, self._refused.get(method.partition("/")[0]))
        if status is not None:
            context.abort(status, UNAUTHORIZED)
        if method in self._empty:
            return b""
        try:
            answer: bytes = self._server.unary_unary(path)(request, timeout=context.time_remaining())
        except grpc.RpcError as problem:
            context.abort(problem.code(), problem.details())
        return answer
