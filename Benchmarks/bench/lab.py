"""A lab of network namespaces (Tests/LabTests/lab), and what its daemons and links have used."""

import os
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAB = os.path.join(ROOT, "Tests/LabTests/lab/lab")
BIN = os.path.join(ROOT, ".build-bench")
# In one network: the lab's hosts, 10.77.0.N, and the responder's, 10.78.0.1 and on.
BITS = 14


class Lab:
    """Hosts h1, h2, ...; use it with `with`."""

    def __init__(self, *options):
        self.options = options
        self.addressed = {}  # how many of the responder's hosts have their addresses on a host

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="discoverd-bench-")
        self.holder = subprocess.Popen(
            [LAB, "-d", self.directory, "start", "--until-eof", "--bits", str(BITS), *self.options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.holder.stdout.readline()
        if line != "READY\n":
            raise RuntimeError(f"the lab did not start: {line!r}")
        with open(os.path.join(self.directory, "init")) as file:
            self.init = file.read().split()[0]
        return self

    def __exit__(self, *_):
        self.holder.stdin.close()
        try:
            self.holder.wait(20)
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    def host(self, name):
        """The pid of the process that holds the host's namespaces."""
        with open(f"/proc/{self.init}/root/run/lab/{name}.holder") as file:
            return file.read().strip()

    def enter(self, name):
        """What to put in front of a command so that it runs on the host; as `lab exec`, without its shell."""
        space = f"/proc/{self.host(name)}/ns"
        return ["nsenter", "--preserve-credentials", f"--user=/proc/{self.init}/ns/user", f"--mount={space}/mnt",
                f"--net={space}/net", f"--uts={space}/uts", "--wdns=" + ROOT]

    @staticmethod
    def environment():
        env = {k: v for k, v in os.environ.items() if k not in ("DBUS_SESSION_BUS_ADDRESS", "NOTIFY_SOCKET")}
        env.update(DBUS_SYSTEM_BUS_ADDRESS="unix:path=/run/dbus/system_bus_socket", XDG_RUNTIME_DIR="/run/user",
                   LC_ALL="C.UTF-8")
        env["PATH"] += ":/usr/sbin:/sbin"
        return env

    def restart_avahi(self, host):
        subprocess.run([LAB, "-d", self.directory, "avahi", host, "restart"], check=True)

    def run(self, host, *command, **options):
        """Runs a command on the host to its end; returns what it printed."""
        return subprocess.run([*self.enter(host), *command], env=self.environment(), check=True, text=True,
                              stdout=subprocess.PIPE, timeout=30, **options).stdout

    def background(self, host, command, ready=None, **options):
        """Starts a command on the host; with `ready`, waits until it prints a line that begins so."""
        process = subprocess.Popen(
            [*self.enter(host), *command], env=self.environment(), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if ready else subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        while ready:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"{command[0]} did not get ready")
            if line.startswith(ready):
                break
        return process

    def responder(self, host, services, *options, per_host=10):
        """Each of its hosts has addresses of its own, unless the options give them others."""
        if "--address" not in options:
            self.address_hosts(host, -(-services // per_host))
            options = ("--own-addresses", *options)
        return self.background(host, [os.path.join(BIN, "responder"), "--services", str(services), "--per-host",
                                      str(per_host), *options], ready="ready")

    def address_hosts(self, host, count):
        """Puts the addresses of so many of the responder's hosts on eth0; responder.c says which they are."""
        lines = []
        for number in range(self.addressed.get(host, 0) + 1, count + 1):
            lines.append(f"addr add 10.78.{number >> 8}.{number & 0xFF}/32 dev eth0")
            if "--ipv4-only" not in self.options:
                lines.append(f"addr add fe80::78:0:{number:x}/64 dev eth0 nodad")
        self.run(host, "ip", "-batch", "-", input="\n".join([*lines, ""]))
        self.addressed[host] = max(count, self.addressed.get(host, 0))

    def daemon(self, host, daemon):
        """The pid of the host's avahi or dbus daemon."""
        with open(f"/proc/{self.host(host)}/root/run/lab/{daemon}.pid") as file:
            return int(file.read())

    def cpu(self, host, daemon):
        """CPU that the host's avahi or dbus daemon has used, in s; None without one."""
        try:
            return used(self.daemon(host, daemon))
        except (OSError, ValueError):
            return None

    def until_idle(self, host, daemon, seconds=10):
        """Waits until the host's daemon has done with what it heard."""
        deadline, last = time.monotonic() + seconds, None
        while time.monotonic() < deadline:
            now = self.cpu(host, daemon)
            if now is None or last is not None and now - last < 0.001:
                return
            last = now
            time.sleep(0.1)

    def wait_for_file(self, host, path, seconds=10):
        deadline = time.monotonic() + seconds
        while not os.path.exists(f"/proc/{self.host(host)}/root{path}"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{path} is not there")
            time.sleep(0.01)

    def nft(self, host, rules):
        """Gives the host these rules, in a table of their own, instead of those it had."""
        self.run(host, "nft", "-f", "-", input="\n".join(["table inet bench {}", "delete table inet bench", *rules, ""]))

    def packets(self, host):
        """Packets that the host has received and sent on eth0."""
        fields = self.counters(host)
        return fields[1], fields[9]

    def octets(self, host):
        """Bytes that the host has received and sent on eth0."""
        fields = self.counters(host)
        return fields[0], fields[8]

    def counters(self, host):
        with open(f"/proc/{self.host(host)}/net/dev") as file:
            for line in file:
                if line.strip().startswith("eth0:"):
                    return [int(field) for field in line.split(":")[1].split()]
        return [0] * 16


def used(pid):
    """CPU that all threads of a process have used, in s; those that have ended too."""
    return time.clock_gettime(~pid << 3 | 2)  # the process's CPU clock, as clock_getcpuclockid(3) names it


def stop(process, seconds=10):
    """SIGTERM, and SIGKILL when that does not help, to a process that was started here."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout:
        process.stdout.close()


