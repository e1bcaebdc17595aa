"""Runs one command on a host, and keeps when each part of its output came and what it cost."""

import os
import selectors
import subprocess
import time

from .lab import BIN, stop


class Timed:
    def __init__(self, lab, host, command):
        read, write = os.pipe()
        self.report = read
        self.process = subprocess.Popen(
            [*lab.enter(host), os.path.join(BIN, "measure"), str(write), *command], env=lab.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=(write,))
        os.close(write)
        self.chunks = []
        self.text = b""
        self.began = time.monotonic()
        os.set_blocking(self.process.stdout.fileno(), False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.eof = False

    def read(self, seconds):
        """Takes what comes within the time; False when the output has ended or nothing came."""
        if self.eof or not self.selector.select(max(0, seconds)):
            return False
        data = self.process.stdout.read(1 << 20)
        if not data:
            self.eof = True
            return False
        self.chunks.append((time.monotonic(), data))
        self.text += data
        return True

    def finish(self, seconds):
        """Waits for the end; SIGTERM when it takes longer. Sets start, end, cpu (s), rss (MiB), status, ended."""
        deadline = time.monotonic() + seconds
        while not self.eof and time.monotonic() < deadline:
            self.read(deadline - time.monotonic())
        self.ended = self.eof
        if not self.eof:
            # `measure` passes it on, and reports.
            self.process.terminate()
            while not self.eof and time.monotonic() < deadline + 10:
                self.read(1)
        stop(self.process)
        with os.fdopen(self.report) as file:
            fields = file.read().split() or ["0", "0", "0", "0", "0", "-1"]
        self.start, self.end, user, system = map(float, fields[:4])
        self.cpu = user + system
        self.rss = int(fields[4]) / 1024
        self.status = int(fields[5])
        self.selector.close()

    def lines(self):
        """(time, line) of every line of the output, with the time when its end came."""
        rest = b""
        for at, data in self.chunks:
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield at, line.decode("utf-8", "replace")
