#!/usr/bin/env python3
"""A certificate authority by openssl, for tests.

    authority.py make DIR                     an authority: DIR/ca.pem, DIR/ca.key
    authority.py issue CA DIR NAME [OPTION]   an identity of it: DIR/identity.pem, with the key, for its owner alone

    --dns NAME       a DNS name of the certificate (subjectAltName); repeatable
    --end TIME       its end: YYMMDDHHMMSSZ
    --usage USAGE    serverAuth or clientAuth alone
    --through NAME   by an intermediate authority of that name, whose certificate is in identity.pem too
    --plain-issuer   that intermediate authority is no authority (CA:FALSE)
"""

import argparse
import os
import subprocess

CONFIGURATION = """[ca]
default_ca = own
[own]
database = {0}/index
serial = {0}/serial
new_certs_dir = {0}
default_md = sha256
policy = names
unique_subject = no
copy_extensions = none
[names]
commonName = supplied
"""


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def key(path):
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def prepare(directory):
    os.makedirs(directory, exist_ok=True)
    write(f"{directory}/conf", CONFIGURATION.format(directory))
    write(f"{directory}/index", "")
    write(f"{directory}/serial", "01\n")


def make(directory, name="fleet"):
    prepare(directory)
    key(f"{directory}/ca.key")
    openssl("req", "-x509", "-new", "-key", f"{directory}/ca.key", "-subj", f"/CN={name}", "-days", "3650", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign", "-out", f"{directory}/ca.pem")


def sign(authority, request, certificate, extensions, end):
    write(f"{authority}/extensions", "[all]\n" + "\n".join(extensions) + "\n")
    openssl("ca", "-batch", "-notext", "-config", f"{authority}/conf", "-cert", f"{authority}/ca.pem", "-keyfile",
            f"{authority}/ca.key", "-in", request, "-startdate", "200101000000Z", "-enddate", end, "-extfile",
            f"{authority}/extensions", "-extensions", "all", "-out", certificate)


def issue(options):
    authority, directory = options.authority, options.directory
    os.makedirs(directory, exist_ok=True)
    chain = []
    if options.through:
        middle = f"{directory}/through"
        prepare(middle)
        key(f"{middle}/ca.key")
        openssl("req", "-new", "-key", f"{middle}/ca.key", "-subj", f"/CN={options.through}", "-out", f"{middle}/request")
        is_authority = "FALSE" if options.plain_issuer else "TRUE"
        sign(authority, f"{middle}/request", f"{middle}/ca.pem",
             [f"basicConstraints=critical,CA:{is_authority}", "keyUsage=critical,keyCertSign"], "491231235959Z")
        authority = middle
        chain.append(f"{middle}/ca.pem")
    key(f"{directory}/key.pem")
    openssl("req", "-new", "-key", f"{directory}/key.pem", "-subj", f"/CN={options.name}", "-out", f"{directory}/request")
    extensions = ["basicConstraints=CA:FALSE", "keyUsage=critical,digitalSignature",
                  f"extendedKeyUsage={options.usage or 'serverAuth,clientAuth'}"]
    if options.dns:
        extensions.append("subjectAltName=" + ",".join(f"DNS:{name}" for name in options.dns))
    sign(authority, f"{directory}/request", f"{directory}/cert.pem", extensions, options.end)
    openssl("pkcs8", "-topk8", "-nocrypt", "-in", f"{directory}/key.pem", "-out", f"{directory}/pkcs8.pem")
    text = ""
    for path in [f"{directory}/pkcs8.pem", f"{directory}/cert.pem", *chain]:
        with open(path) as file:
            text += file.read()
    path = f"{directory}/identity.pem"
    write(path, text)
    os.chmod(path, 0o600)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("make")
    verb.add_argument("directory")
    verb = verbs.add_parser("issue")
    verb.add_argument("authority")
    verb.add_argument("directory")
    verb.add_argument("name")
    verb.add_argument("--dns", action="append")
    verb.add_argument("--end", default="491231235959Z")
    verb.add_argument("--usage")
    verb.add_argument("--through")
    verb.add_argument("--plain-issuer", action="store_true")
    options = parser.parse_args()
    if options.verb == "make":
        make(options.directory)
    else:
        issue(options)


if __name__ == "__main__":
    main()
