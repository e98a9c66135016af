"""Joining a Ray cluster, or starting one on this machine for as long as it is needed."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from domino_env.errors import OptionsError

__all__ = ["LOCAL", "check_ray", "connected"]

LOCAL = "local"
"""The address that stands for a cluster of this machine alone."""
_HOST_AND_PORT = re.compile(r"[^/]+:\d+")
_KNOCK_SECONDS = 10.0
_OBJECT_STORE = 512 << 20
"""Bytes of shared memory of a cluster of this machine: what travels here is small."""


@contextlib.contextmanager
def connected(address: str = LOCAL, num_cpus: int | None = None) -> Iterator[None]:
    """Be connected to a cluster in the block; a cluster that is connected already is used as it is, and stays.

    ``address``: ``"local"`` starts one on this machine, on loopback, without dashboard and usage reports, and ends it after the block;
    else ``HOST:PORT`` of a head node, or ``"auto"`` for the one that runs here. ``num_cpus``: tasks at once of a local one; left out, one
    for each core. Raises ``OptionsError`` where Ray is missing or there is no such cluster.
    """
    ray = _import_ray()
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}
    if address == LOCAL:
        ray.init(
            "local", num_cpus=num_cpus, include_dashboard=False, object_store_memory=_OBJECT_STORE, _node_ip_address="127.0.0.1", **quiet
        )
    else:
        if _HOST_AND_PORT.fullmatch(address):
            _check_listens(address)
            if _wants_token(address):
                _use_token()
        try:
            ray.init(address, **quiet)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            why = " ".join(str(error).split())
            raise OptionsError(f"ray address {address!r}: no cluster answers ({why}); it is 'local', 'auto' or HOST:PORT") from None
    try:
        yield
    finally:
        ray.shutdown()


def _check_listens(address: str) -> None:
    """``OptionsError`` where nobody listens at ``HOST:PORT``: Ray itself would try for minutes, deaf to signals."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS):
            pass
    except (OSError, OverflowError) as error:
        raise OptionsError(f"ray address {address!r}: nobody listens there ({error}); it is 'local', 'auto' or HOST:PORT") from None


def _wants_token(address: str) -> bool:
    """Whether the head turns away who shows none. Who shows one where none is wanted is not understood by the workers, so ask first."""
    import grpc  # tensorboard brings it, as the extra does

    with grpc.insecure_channel(address) as channel:
        ask = channel.unary_unary("/ray.rpc.NodeInfoGcsService/GetClusterId")
        try:
            ask(b"", timeout=_KNOCK_SECONDS)
        except grpc.RpcError as error:
            return bool(error.code() == grpc.StatusCode.UNAUTHENTICATED)
    return False


def _use_token() -> None:
    """Show the token that this machine has: given HOST:PORT, Ray 2.60 does not do so of itself."""
    # the variable RAY_AUTH_MODE is read when Ray is imported, which is long ago
    from ray._private.authentication import authentication_token_setup as setup

    setup.logger.setLevel(logging.ERROR)
    setup.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)


def check_ray() -> None:
    """``OptionsError`` where Ray is not installed."""
    if find_spec("ray") is None:
        raise OptionsError("this needs Ray, which is not installed: pip install 'domino-env[rllib]'")


def _import_ray() -> Any:
    check_ray()
    import ray

    return ray
