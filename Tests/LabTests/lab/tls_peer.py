#!/usr/bin/env python3
"""Speaks TLS as others would, with Python's ssl.

    tls_peer.py make DIR LABEL [END]      an identity by openssl: DIR/key.pem, DIR/cert.pem, and its fingerprint on standard output;
                                          END: YYMMDDHHMMSSZ
    tls_peer.py call HOST PORT DIR PINNED says "hello" with that identity to whom the certificate PINNED is pinned, prints what comes back
    tls_peer.py answer PORT DIR           prints "ready", then what the first caller says; its certificate is asked for and not judged
"""

import socket
import ssl
import subprocess
import sys


AUTHORITY = """[ca]
default_ca = self
[self]
database = {0}/index
serial = {0}/serial
new_certs_dir = {0}
default_md = sha256
policy = names
[names]
commonName = supplied
"""


def make(directory, label, end="491231235959Z"):
    key, certificate = f"{directory}/key.pem", f"{directory}/cert.pem"
    run = lambda *words, **more: subprocess.run(["openssl", *words], check=True, capture_output=True, **more)
    run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
    for name, text in [("conf", AUTHORITY.format(directory)), ("index", ""), ("serial", "01\n")]:
        with open(f"{directory}/{name}", "w") as file:
            file.write(text)
    run("req", "-new", "-key", key, "-subj", f"/CN={label}", "-out", f"{directory}/request")
    run("ca", "-batch", "-selfsign", "-notext", "-config", f"{directory}/conf", "-keyfile", key, "-in", f"{directory}/request",
        "-startdate", "200101000000Z", "-enddate", end, "-out", certificate)
    public = run("pkey", "-in", key, "-pubout", "-outform", "DER").stdout
    digest = run("dgst", "-sha256", "-binary", input=public).stdout
    print("SHA256:" + run("base64", "-A", input=digest).stdout.decode().strip().rstrip("="))


def context(role, directory, pinned=None):
    made = ssl.SSLContext(role)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False
    made.load_cert_chain(f"{directory}/cert.pem", f"{directory}/key.pem")
    made.verify_mode = ssl.CERT_REQUIRED if pinned else ssl.CERT_NONE
    if pinned:
        made.load_verify_locations(pinned)
        made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN if hasattr(ssl, "VERIFY_X509_PARTIAL_CHAIN") else 0
    return made


def call(host, port, directory, pinned):
    with socket.create_connection((host, int(port)), 10) as plain:
        with context(ssl.PROTOCOL_TLS_CLIENT, directory, pinned).wrap_socket(plain) as link:
            link.sendall(b"hello\n")
            print(link.version(), link.recv(100).decode().strip())


def answer(port, directory):
    with socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print("ready", flush=True)
        plain, _ = server.accept()
        with context(ssl.PROTOCOL_TLS_SERVER, directory).wrap_socket(plain, server_side=True) as link:
            data = b""
            while part := link.recv(4096):
                data += part
            print(link.version(), data.decode().strip(), flush=True)
            link.unwrap()  # says that it ends


if __name__ == "__main__":
    {"make": make, "call": call, "answer": answer}[sys.argv[1]](*sys.argv[2:])
