#!/usr/bin/env python3
"""Reads the window as a screen reader does, over a real accessibility bus: opens each page and lists the objects that take
input and have no name, or whose role has a value that cannot be read. The fast test of the same rule asks Qt's own tree
(scenario/spoken_test.cpp); this one shows what arrives at the other end of the bus.

    at_spi.py --halftone build/release/halftone [--settings FILE.json] [--tree FILE]

Needs Xvfb, a window manager (openbox), xdotool, dbus-run-session, at-spi2-core, python3-gi and gir1.2-atspi-2.0 (Debian's
names). Run by hand. Prints one line a page, then the faults; exits with 1 if there is one, 77 if something is missing."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

INNER = "HALFTONE_AT_SPI_INNER"
SETTINGS = '{"dataset": {"kind": "spirals", "train_limit": 640}, "model": {"kind": "mlp"}, "batch_size": 32, "epochs": 2, ' \
           '"instruments": {"histograms_every": 8}}'
PAGE_KEYS = [*(f"ctrl+{page % 10}" for page in range(1, 11)), "ctrl+shift+n"]
PATIENCE = 60  # seconds


def outside():
    """Starts this script again on a private session bus."""
    for program in ("Xvfb", "openbox", "xdotool", "dbus-run-session"):
        if shutil.which(program) is None:
            print(f"skipped: there is no {program}")
            sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="halftone-at-spi-") as home:
        env = os.environ | {INNER: home, "HOME": home, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"):
            env.pop(name, None)
        sys.exit(subprocess.run(["dbus-run-session", "--", sys.executable, *sys.argv], env=env, check=False).returncode)


def until(condition, what):
    """Waits for a condition that is not None; ends the program if it does not come."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found is not None:
            return found
        time.sleep(0.1)
    sys.exit(f"{what} did not come within {PATIENCE} s")


def children(node):
    for i in range(node.get_child_count()):
        child = node.get_child_at_index(i)
        if child is not None:
            yield child


def has(node, state):
    return node.get_state_set().contains(state)


class Walk:
    """Objects that are shown of one page."""

    def __init__(self, atspi):
        self.atspi, self.found, self.faults, self.lines = atspi, 0, [], []
        role = atspi.Role
        self.inputs = {role.PUSH_BUTTON, role.TOGGLE_BUTTON, role.CHECK_BOX, role.RADIO_BUTTON, role.COMBO_BOX, role.ENTRY,
                       role.TEXT, role.SPIN_BUTTON, role.SLIDER, role.PAGE_TAB, role.MENU, role.MENU_ITEM, role.LIST,
                       role.TABLE, role.TREE, role.TREE_TABLE}
        self.values = {role.SPIN_BUTTON, role.SLIDER}
        self.whole = {role.LIST, role.TABLE, role.TREE, role.TREE_TABLE}

    def value_of(self, node):
        """The value as text; None where the object has no such interface."""
        try:
            if node.get_role() in self.values:
                return str(self.atspi.Value.get_current_value(node))
            text = node.get_text_iface()
            return None if text is None else self.atspi.Text.get_text(node, 0, -1)
        except Exception:  # the library has one class of error for all
            return None

    def node(self, node, depth=0):
        if not has(node, self.atspi.StateType.SHOWING) and depth > 1:
            return
        role, name = node.get_role(), node.get_name() or ""
        value = self.value_of(node)
        self.lines.append(f"{'  ' * depth}{node.get_role_name()} “{name}”" + ("" if value is None else f" = {value}"))
        if role in self.inputs:
            self.found += 1
            if not name.strip():
                self.faults.append(f"{node.get_role_name()} in {node.get_parent().get_role_name()} has no name")
            elif role == self.atspi.Role.COMBO_BOX and ":" not in name and not node.get_relation_set():
                self.faults.append(f"combo box “{name}” has a value and no name")
            if role in self.values and value is None:
                self.faults.append(f"{node.get_role_name()} “{name}” has no value")
        if role in self.whole:
            return  # rows have the words that they show
        for child in children(node):
            self.node(child, depth + 1)


def inside(arguments):
    try:
        import gi
        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi
    except (ImportError, ValueError) as error:
        print(f"skipped: {error}")
        return 77
    home = pathlib.Path(os.environ[INNER])
    settings = arguments.settings or home / "run.json"
    if arguments.settings is None:
        settings.write_text(SETTINGS)
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1440x900x24"], pass_fds=[write],
                              stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as number:
        display = ":" + number.readline().strip()
    env = os.environ | {"DISPLAY": display}
    os.environ["DISPLAY"] = display
    started = [server, subprocess.Popen(["openbox"], env=env, stderr=subprocess.DEVNULL)]
    failed = False
    try:
        window = subprocess.Popen([arguments.halftone.resolve(), settings], env=env, stderr=subprocess.DEVNULL)
        started.append(window)
        Atspi.init()

        def application():
            for child in children(Atspi.get_desktop(0)):
                if child.get_process_id() == window.pid and child.get_child_count() > 0:
                    return child
            return None

        def press(key):
            subprocess.run(["xdotool", "key", "--clearmodifiers", key], env=env, check=True)

        def frame():
            for child in children(until(application, "the window on the accessibility bus")):
                if has(child, Atspi.StateType.ACTIVE):
                    return child
            return None

        def ended():
            events = list((home / ".local/share/halftone/runs").glob("*/events.jsonl"))
            return True if events and all('"event":"done"' in each.read_text() for each in events) else None

        until(frame, "the active window")
        press("ctrl+r")  # some pages need a run
        until(ended, "the end of the run")
        lines = []
        for page in PAGE_KEYS:
            press(page)
            walk, seen = None, -1
            while walk is None or walk.found != seen:  # until the page has all that it shows
                seen = walk.found if walk else -1
                time.sleep(0.5)
                walk = Walk(Atspi)
                walk.node(frame())
            print(f"page {page}: {walk.found} objects take input, {len(walk.faults)} faults", flush=True)
            for fault in walk.faults:
                print("    " + fault)
            failed = failed or bool(walk.faults)
            lines += [f"--- page {page}", *walk.lines]
        if arguments.tree:
            arguments.tree.write_text("\n".join(lines) + "\n")
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--halftone", type=pathlib.Path, required=True)
    parser.add_argument("--settings", type=pathlib.Path, help="a run that is trained first, in place of a small one")
    parser.add_argument("--tree", type=pathlib.Path, help="gets the whole tree of every page")
    arguments = parser.parse_args()
    if INNER not in os.environ:
        outside()
    sys.exit(inside(arguments))


if __name__ == "__main__":
    main()
