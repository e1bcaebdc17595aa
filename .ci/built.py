"""What a debug build has already: its modules, and what a tool has to be told to read them. Nothing is compiled for it."""

import glob
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SWIFT = os.environ.get("SWIFT", "swift")
BUILD = f"{ROOT}/.build"


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def modules():
    """The modules of all library products, each after those that it depends on."""
    package = json.loads(said(SWIFT, "package", "dump-package"))
    libraries = [product["targets"] for product in package["products"] if "library" in product["type"]]
    public = {target for targets in libraries for target in targets}
    needs = {target["name"]: [name[0] for need in target["dependencies"] for name in need.values()]
             for target in package["targets"]}
    ordered = []

    def visit(name):
        for need in sorted(needs.get(name, [])):
            visit(need)
        if name in public and name not in ordered:
            ordered.append(name)

    for name in sorted(public):
        visit(name)
    return ordered


def search():
    """The options with which Swift finds the modules of the build, and what those need of C: module maps, SwiftPM's and the packages'."""
    made = [f"-fmodule-map-file={path}" for path in glob.glob(f"{BUILD}/debug/*.build/module.modulemap")]
    headers = glob.glob(f"{BUILD}/checkouts/*/Sources/*/include/module.modulemap")
    own = [f"-I{os.path.dirname(path)}" for path in headers]
    system = [f"-I{ROOT}/Sources/Daemon/CYAML"]
    clang = [word for flag in sorted(made + own + system) for word in ("-Xcc", flag)]
    return ["-I", f"{BUILD}/debug/Modules", *clang]


def toolchain():
    """Where the compiler's programs and libraries are, and for which machine it compiles."""
    target = json.loads(said(SWIFT + "c", "-print-target-info"))
    resources = target["paths"]["runtimeResourcePath"]
    return os.path.dirname(os.path.dirname(resources)), resources, target["target"]["unversionedTriple"]
