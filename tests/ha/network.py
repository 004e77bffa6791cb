"""A small network of namespaces on one machine: a bridge, and hosts on it whose cables can be pulled."""
import itertools
import os
import shutil
import subprocess

from harness.check import Failure, Skip

numbers = itertools.count(1)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """10.213.N.0/24: the tests and the servers are at .1, the hosts from .11 on. Use it with `with`."""

    def __init__(self, hosts):
        if os.geteuid() != 0:
            raise Skip("network namespaces with a bridge need root")
        if not shutil.which("ip"):
            raise Skip("ip is not installed (tools/setup test)")
        self.name = f"ha{os.getpid() % 100000}"
        self.prefix = f"10.213.{os.getpid() % 250 + 1}"
        self.hosts = hosts

    def address(self, host):
        return f"{self.prefix}.{11 + self.hosts.index(host)}"

    def space(self, host):
        return f"{self.name}-{host}"

    def cable(self, host):
        return f"{self.name}v{self.hosts.index(host)}"

    def __enter__(self):
        try:
            run("ip", "link", "add", self.name, "type", "bridge")
            run("ip", "address", "add", f"{self.prefix}.1/24", "dev", self.name)
            run("ip", "link", "set", self.name, "up")
            for host in self.hosts:
                self.add(host)
        except Failure as failure:
            self.__exit__()
            raise Skip(f"this machine makes no network namespaces: {failure}") from None
        return self

    def add(self, host):
        space, cable = self.space(host), self.cable(host)
        run("ip", "netns", "add", space)
        run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
        run("ip", "link", "set", cable, "master", self.name, "up")
        for words in (["address", "add", f"{self.address(host)}/24", "dev", "eth0"], ["link", "set", "eth0", "up"],
                      ["link", "set", "lo", "up"]):
            run("ip", "-n", space, *words)

    def __exit__(self, *exc):
        for host in self.hosts:
            subprocess.run(["ip", "netns", "del", self.space(host)], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", self.name], capture_output=True, check=False)

    def command(self, host):
        """What stands before a command that runs on a host."""
        return ["ip", "netns", "exec", self.space(host)]

    def pull(self, host):
        """Its cable."""
        run("ip", "link", "set", self.cable(host), "down")

    def plug(self, host):
        run("ip", "link", "set", self.cable(host), "up")
