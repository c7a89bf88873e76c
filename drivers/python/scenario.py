"""The frame of the Python checks: what to connect to, how a check is registered, run and printed.

A check is a function taking the shared `World`. It passes when it returns, is skipped when it raises `Skip`, and
fails on any other exception. Checks run in the order of registration; later ones may use tables made by earlier ones.
"""

import os
import ssl
import time
import traceback

from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import ConstantReconnectionPolicy, DCAwareRoundRobinPolicy, TokenAwarePolicy

TARGET = os.environ.get("TARGET", "partita")
HOST = os.environ.get("CQL_HOST", "127.0.0.1")
PORT = int(os.environ.get("CQL_PORT", "9042"))
AUTH_PORT = int(os.environ.get("CQL_AUTH_PORT") or 0)
TLS_PORT = int(os.environ.get("CQL_TLS_PORT") or 0)
TLS_CA = os.environ.get("CQL_TLS_CA", "")
MUTUAL_TLS_PORT = int(os.environ.get("CQL_MUTUAL_TLS_PORT") or 0)
CLIENT_CERT = (os.environ.get("CQL_CLIENT_CERT", ""), os.environ.get("CQL_CLIENT_KEY", ""))
METRICS = os.environ.get("CQL_METRICS", "")
KEYSPACE = os.environ.get("CQL_KEYSPACE", "drv_python")
# The two drivers share the module name `cassandra`; the runner says which one is installed.
DRIVER = os.environ.get("DRIVER", "cassandra-driver")

CHECKS = []


class Skip(Exception):
    """Raised by a check that does not apply; the text is the reason."""


def check(name):
    def register(function):
        CHECKS.append((name, function))
        return function
    return register


def eq(found, wanted, what="value"):
    if found != wanted:
        raise AssertionError(f"{what}: found {found!r}, wanted {wanted!r}")


def raises(kind, function, *args, **kwargs):
    """Runs the function, which must raise `kind`; returns the exception."""
    try:
        function(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"no {getattr(kind, '__name__', kind)} was raised")


def eventually(condition, seconds=10, what="condition"):
    """Polls for something that another connection's event brings about."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"{what} did not become true in {seconds} s")


class World:
    """Open clusters of this run; everything opened through it is closed at the end."""

    def __init__(self):
        self.clusters = []
        self.cluster = self.session = None

    def open(self, port=None, user=None, password=None, tls=False, client_cert=None, profile=None, **options):
        if user is not None:
            options["auth_provider"] = PlainTextAuthProvider(user, password)
        if tls:
            context = ssl.create_default_context(cafile=TLS_CA)
            if client_cert:
                context.load_cert_chain(*client_cert)
            options["ssl_context"] = context
            options["ssl_options"] = {"server_hostname": "localhost"}
        profile = profile or ExecutionProfile(
            load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy("datacenter1")), request_timeout=30)
        profiles = options.pop("execution_profiles", {})
        profiles.setdefault(EXEC_PROFILE_DEFAULT, profile)
        cluster = Cluster([HOST], port=port or PORT, execution_profiles=profiles, connect_timeout=20,
                          control_connection_timeout=20, reconnection_policy=ConstantReconnectionPolicy(0.2, None), **options)
        self.clusters.append(cluster)
        return cluster

    def connect(self, *args, keyspace=None, **options):
        cluster = self.open(*args, **options)
        return cluster, cluster.connect(keyspace)

    def close(self):
        for cluster in self.clusters:
            cluster.shutdown()


def run():
    world = World()
    only = os.environ.get("CHECK", "")
    failed = 0
    for name, function in CHECKS:
        # `connect` and the schema are needed by the rest; CHECK=text narrows everything after them.
        if only and only not in name and not name.startswith(("connect", "ddl")):
            continue
        begun = time.monotonic()
        try:
            function(world)
            print(f"ok {name}  # {time.monotonic() - begun:.2f} s", flush=True)
        except Skip as reason:
            print(f"skip {name}: {reason}", flush=True)
        except Exception as error:
            failed += 1
            text = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"FAIL {name}: {text[:600]}", flush=True)
            traceback.print_exc()
    world.close()
    return 1 if failed else 0
