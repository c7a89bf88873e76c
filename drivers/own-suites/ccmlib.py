"""A stand-in for the Python package ccmlib that knows one node, for suites that start their clusters in process (ScyllaDB's Python driver).

A cluster of any size can be made; all its nodes are the one server that the program `ccm` beside this file starts, so tests that count on
others fail by themselves. Stops and starts of node1 are real, of other nodes refused. Settings go to `ccm updateconf`, which takes up authentication.
from-source copies this file as the package's __init__ and makes its modules (cluster, node, ...) names of the same.
"""
import socket
import subprocess
import time


def ccm(*words):
    subprocess.run(["ccm", *words], check=True, stdin=subprocess.DEVNULL)


def check_socket_listening(address, timeout=60):
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        try:
            socket.create_connection(address).close()
            return True
        except OSError:
            time.sleep(0.1)
    return False


def switch_cluster(*_):
    pass


class TimeoutError(Exception):
    pass


class Node:
    data_center, pid, workloads = "dc1", 0, ()
    network_interfaces = {"binary": ("127.0.0.1", 9042)}

    def __init__(self, number):
        self.name = f"node{number}"

    def start(self, *_, **__):
        ccm(self.name, "start")

    def stop(self, *_, **__):
        ccm(self.name, "stop")

    def pause(self):
        ccm(self.name, "pause")

    def resume(self):
        ccm(self.name, "resume")

    def is_running(self):
        return check_socket_listening(self.network_interfaces["binary"], 0.5)

    def address(self):
        return "127.0.0.1"

    def grep_log_for_errors(self):
        return []

    def set_workloads(self, *_):
        pass


class Cluster:
    def __init__(self, _path, name, **_):
        self.name, self.nodes = name, {}

    def populate(self, nodes, **_):
        count = nodes if isinstance(nodes, int) else sum(nodes)
        self.nodes = {f"node{number}": Node(number) for number in range(1, count + 1)}
        return self

    def nodelist(self):
        return list(self.nodes.values())

    def get_ipprefix(self):
        return "127.0.0."

    def set_configuration_options(self, values=None, **_):
        ccm("updateconf", *(f"{name}:{value}" for name, value in (values or {}).items()))

    def start(self, *_, **__):
        ccm("start")

    def stop(self, *_, **__):
        ccm("stop")

    def clear(self):
        ccm("remove")

    remove = clear


class ClusterFactory:
    @staticmethod
    def load(*_):
        raise FileNotFoundError("this ccm keeps no clusters")


DseCluster = HcdCluster = ScyllaCluster = Cluster
