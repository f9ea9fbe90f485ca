#!/usr/bin/env python3
"""Prints the SPDX 2.3 list (JSON) of a package: the program, and each library that it links or contains, with version and licence.

Licences are those of resources/licences.txt, versions those of this machine's packages. A library that is bundled but that the
program does not link itself has no entry there; its licence is NOASSERTION, and the name of its Debian package leads to it.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys


def parts_of(licences):
    """Each part of the list as (title, {"Files": [...], "Headers": [...], "SPDX": "..."})."""
    parts = []
    for text in re.split(r"^-{20,}\n", licences, flags=re.M)[1:]:
        title, *lines = text.splitlines()
        keys = dict(re.findall(r"^(Files|Opened|Headers|SPDX): (.*)$", "\n".join(lines), re.M))
        if "SPDX" in keys:
            parts.append((title, keys))
    return parts


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def debian_packages(paths):
    """{path: (name, version)} of the packages that have these files; files of none are left out. Asks once for all, since each
    call reads the lists of every package."""
    names = {}
    for path in paths:
        real = os.path.realpath(path)
        for name in (path, real, real.removeprefix("/usr"), "/usr" + real):
            names.setdefault(name, set()).add(path)
    owners = {}
    for line in output("dpkg-query", "-S", *names).splitlines():
        owner, _, name = line.rpartition(": ")
        for path in names.get(name, ()) if not owner.startswith("diversion ") else ():
            owners.setdefault(path, re.match(r"[^:,]+", owner)[0])
    asked = sorted(set(owners.values()))
    told = output("dpkg-query", "-W", "-f=${Package} ${Version}\n", *asked) if asked else ""
    versions = dict(line.split(" ", 1) for line in told.splitlines())
    return {path: (owner, versions.get(owner, "")) for path, owner in owners.items()}


def linked(program):
    """{name: path} of the libraries that the program names, and of all that are loaded with it."""
    named = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", program)))
    paths = dict(re.findall(r"(\S+) => (/\S+)", output("ldd", program)))
    return {name: paths[name] for name in sorted(named) if name in paths}


def headers(names):
    folders = ["/usr/include", *map(str, pathlib.Path("/usr/include").glob("*-linux-gnu"))]
    return [f"{folder}/{name}" for name in names.split() for folder in folders if os.path.exists(f"{folder}/{name}")]


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def checksum(file):
    return {"algorithm": "SHA256", "checksumValue": hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()}


def entry(name, version, licence, comment, reference):
    out = {"SPDXID": identifier(name), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
           "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", "comment": comment}
    if version:
        out["versionInfo"] = version
    if reference:
        out["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                "referenceLocator": f"pkg:deb/debian/{reference}@{version.replace(':', '%3A').replace('+', '%2B')}"}]
    return out


def main():
    options = argparse.ArgumentParser(description=__doc__)
    for name in ("name", "version", "file", "program", "licences", "date"):
        options.add_argument(f"--{name}", required=True)
    options.add_argument("--bundled", nargs="*", default=[], help="libraries in the package, by their place on this machine")
    args = options.parse_args()

    parts = parts_of(pathlib.Path(args.licences).read_text(encoding="utf-8"))
    libraries = linked(args.program)
    window = any(name.startswith("libQt6") for name in libraries)
    whole = "GPL-3.0-or-later" if window else "MIT"
    main_entry = entry(args.name, args.version, whole, "The source is under the MIT License; NOTICE has the terms of the whole.", "")
    main_entry |= {"licenseDeclared": whole, "packageFileName": os.path.basename(args.file), "checksums": [checksum(args.file)]}
    packages, relations = [main_entry], [("SPDXRef-DOCUMENT", "DESCRIBES", main_entry["SPDXID"])]

    bundled = {os.path.basename(path): path for path in args.bundled}
    listed = [path for _, keys in parts for path in headers(keys.get("Headers", ""))]
    owners = debian_packages([*libraries.values(), *listed, *args.bundled])
    known = set()
    for title, keys in parts:
        if "builds with CUDA" in title and not args.name.endswith("cuda"):
            continue
        title = re.sub(r" \(in builds .*", "", title)
        stems = keys.get("Files", "").split()
        paths = [path for name, path in libraries.items() if name.split(".so")[0].split(".")[0] in stems]
        known.update(bundled.get(os.path.basename(path), "") for path in paths)
        static = any(stem.endswith("_static") for stem in stems)
        compiled_in = "Headers" in keys and not stems
        if not paths and not compiled_in and not static:
            continue
        name, version = owners.get((paths or headers(keys.get("Headers", "")) or [""])[0], ("", ""))
        if compiled_in and not name:
            continue  # a header that this build does not have
        packages.append(entry(title, version, keys["SPDX"], "linked: " + " ".join(map(os.path.basename, paths)) if paths else "compiled in", name))
        inside = not paths or any(os.path.basename(path) in bundled for path in paths)
        relations.append((main_entry["SPDXID"], "CONTAINS" if inside else "DYNAMIC_LINK", identifier(title)))
    for library, path in sorted(bundled.items()):
        if path in known:
            continue
        name, version = owners.get(path, ("", ""))
        packages.append(entry(library, version, "NOASSERTION", "bundled", name))
        relations.append((main_entry["SPDXID"], "CONTAINS", identifier(library)))

    used = json.dumps(packages)
    texts = {"LicenseRef-public-domain": "In the public domain.",
             "LicenseRef-NVIDIA": "License Agreement for NVIDIA Software Development Kits, with the supplement for the CUDA Toolkit: "
                                  "https://docs.nvidia.com/cuda/eula"}
    created = datetime.datetime.fromtimestamp(int(args.date), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": os.path.basename(args.file),
        "documentNamespace": "urn:halftone:" + main_entry["checksums"][0]["checksumValue"],
        "creationInfo": {"created": created, "creators": ["Tool: halftone-installer-sbom"]},
        "packages": packages,
        "hasExtractedLicensingInfos": [{"licenseId": key, "extractedText": text} for key, text in texts.items() if key in used],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}
    json.dump(document, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
