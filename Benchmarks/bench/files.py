"""One large file between two hosts, as files are sent: filedrop with TLS and without, beside openssl's own TLS.

Not rsync over ssh: sshd needs setgroups(2), which a network made without root refuses.
"""

import os
import shutil
import tempfile
import time
from statistics import median

from .timed import Timed
from .transfer import listening

SIZE = 1 << 30
PORT = 9000
PLAIN, SECURED, OPENSSL = "filedrop send --plain", "filedrop send", "openssl s_client to s_server"


def openssl(folder):
    """Receiver and sender; TLS 1.3 with an ECDSA P-256 certificate on the receiver's side. s_server ends the connection when its own
    input ends, so that comes from a pipe in which nobody writes."""
    key, certificate = f"{folder}/key.pem", f"{folder}/cert.pem"
    receive = ["sh", "-c", f"exec openssl s_server -accept {PORT} -key {key} -cert {certificate} -naccept 1 -quiet -tls1_3"
                           f" <>{folder}/silence >{folder}/in/file"]
    # s_client ends when its input ends and the other side has been told, and takes no letter in the file for a command.
    send = ["sh", "-c", f"exec openssl s_client -connect 10.77.0.2:{PORT} -quiet -no_ign_eof -nocommands"
                        f" <{folder}/file 2>/dev/null"]
    return receive, send


def candidates(filedrop, folder):
    """Name: receiver on h2, sender on h1."""
    receive = [filedrop, "receive", f"{folder}/in", "--name", "inbox", "--once", "--port", str(PORT), "--avahi", "always"]
    send = [filedrop, "send", f"{folder}/file", "--to", "inbox"]
    return {PLAIN: ([*receive, "--plain"], [*send, "--plain"]),
            SECURED: ([*receive, "--trust-first"], [*send, "--trust-first"]),
            OPENSSL: openssl(folder)}


def prepare(lab, folder):
    os.mkdir(f"{folder}/in")
    os.mkfifo(f"{folder}/silence")
    with open("/dev/urandom", "rb") as random, open(f"{folder}/file", "wb") as file:
        for _ in range(SIZE >> 24):
            file.write(random.read(1 << 24))
    lab.run("h1", "sh", "-c", f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=bench"
                              f" -keyout {folder}/key.pem -out {folder}/cert.pem 2>/dev/null")


def run(lab, folder, receiver, sender):
    """MB/s from the sender's start to its end, CPU of both in ms; no rate when less than the file came."""
    with open(os.devnull, "wb") as sink:
        into = Timed(lab, "h2", receiver, output=sink)
        try:
            listening(lab, "h2", PORT)
            out = Timed(lab, "h1", sender, output=sink)
            out.finish(120)
        finally:
            if not into.wait(2):
                into.end()
            into.finish(10)
    names = os.listdir(f"{folder}/in")
    whole = out.status == 0 and out.ended and [os.path.getsize(f"{folder}/in/{name}") for name in names] == [SIZE]
    for name in names:
        os.remove(f"{folder}/in/{name}")
    return {"rate": SIZE / (out.stop - out.start) / 1e6 if whole else None, "cpu": (into.cpu + out.cpu) * 1000,
            "rss": max(into.rss, out.rss)}


def case(lab, filedrop, runs, say):
    """{name: row}; in turns, so that what the machine does meanwhile falls on all."""
    folder = tempfile.mkdtemp(prefix="discoverd-bench-")
    try:
        prepare(lab, folder)
        commands = candidates(filedrop, folder)
        results = {key: [] for key in commands}
        for _ in range(runs):
            for key, pair in commands.items():
                results[key].append(run(lab, folder, *pair))
                # The name is free again for the next.
                time.sleep(1)
        say("  files: " + ", ".join(f"{key} {values[-1]['rate'] or 0:.0f} MB/s" for key, values in results.items()))
        return {key: summary(values) for key, values in results.items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def summary(results):
    row = {}
    for key in ("rate", "cpu", "rss"):
        values = [result[key] for result in results if result[key] is not None]
        row[key] = median(values) if values else None
    row["runs"], row["complete"] = len(results), sum(result["rate"] is not None for result in results)
    return row
