"""Runs one command on a host, and keeps when each part of its output came and what it cost."""

import os
import selectors
import subprocess
import time

from .lab import BIN, stop


class Timed:
    """`held` keeps its standard input open until `end`; `source` is a file that it reads; `output` and `errors` take what
    it writes, and then its output is not read here."""

    def __init__(self, lab, host, command, held=False, source=None, output=None, errors=None):
        read, write = os.pipe()
        self.report = read
        self.process = subprocess.Popen(
            [*lab.enter(host), os.path.join(BIN, "measure"), str(write), *command], env=lab.environment(),
            stdin=subprocess.PIPE if held else source or subprocess.DEVNULL, stdout=output or subprocess.PIPE,
            stderr=errors or subprocess.DEVNULL, pass_fds=(write,))
        os.close(write)
        self.held = held
        self.chunks = []
        self.text = b""
        self.began = time.monotonic()
        self.eof = False
        self.piped = output is None
        if self.piped:
            os.set_blocking(self.process.stdout.fileno(), False)
            self.selector = selectors.DefaultSelector()
            self.selector.register(self.process.stdout, selectors.EVENT_READ)

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

    def end(self):
        """Asks it to end: by the end of its input if that is held, else by SIGTERM, which `measure` passes on."""
        if self.held and self.process.stdin:
            self.process.stdin.close()
            self.process.stdin = None
        else:
            self.process.terminate()

    def finish(self, seconds):
        """Waits for the end; asks for it when it takes longer. Sets start, stop, cpu (s), rss (MiB), status, ended."""
        self.ended = self.wait(seconds)
        if not self.ended:
            self.end()
            self.wait(10)
        stop(self.process)
        with os.fdopen(self.report) as file:
            fields = file.read().split() or ["0", "0", "0", "0", "0", "-1"]
        self.start, self.stop, user, system = map(float, fields[:4])
        self.cpu = user + system
        self.rss = int(fields[4]) / 1024
        self.status = int(fields[5])
        if self.piped:
            self.selector.close()

    def wait(self, seconds):
        """Whether it came to its end within the time."""
        deadline = time.monotonic() + seconds
        if self.piped:
            while not self.eof and time.monotonic() < deadline:
                self.read(deadline - time.monotonic())
            return self.eof
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def lines(self):
        """(time, line) of every line of the output, with the time when its end came."""
        rest = b""
        for at, data in self.chunks:
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield at, line.decode("utf-8", "replace")
