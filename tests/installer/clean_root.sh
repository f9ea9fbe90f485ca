#!/usr/bin/env bash
# clean_root.sh ROOT PACKAGE [FOLDER]: what a person with an empty system sees of a package, on any machine and as root:
#
#     debootstrap --variant=minbase bookworm /srv/bookworm
#     tests/installer/clean_root.sh /srv/bookworm build/packages/halftone_VERSION+deb12_amd64.deb pictures
#
# Installs the .deb, or unpacks the portable archive, in a copy of ROOT (an overlay: ROOT stays as it is); trains the default
# comparison on the command line and once more in the window, as a user without rights; removes and purges it; and compares all
# files of the root before and after. The packages that the .deb needs or recommends are installed before the first listing, since
# some of them (systemd, dbus) leave users and folders of their own. FOLDER (default: build/clean-root) gets a picture of the first
# window and one of the trained comparison. Prints seconds. Fails if a step does, or if a file is left or has changed.
#
# A release is tried with it by hand, since it needs the network, apt's servers and some minutes. Needs Xvfb, openbox, xdotool and
# ImageMagick. HALFTONE_WINDOW=no leaves the window out (packages with CUDA have none).
set -euo pipefail
[[ ${2:-} ]] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -n -1; exit 2; }
[[ ${CLEAN_ROOT_ALONE:-} ]] || CLEAN_ROOT_ALONE=yes exec unshare -m "$0" "$@"  # the mounts end with it
lower=$(realpath "$1") package=$(realpath "$2") out=$(realpath -m "${3:-build/clean-root}")
patience=600  # seconds that the window may take for a step
user=4321     # a number that no system has

fail() {
    echo "clean_root.sh: $*" >&2
    exit 1
}

for tool in chroot Xvfb openbox xdotool import; do
    [[ ${HALFTONE_WINDOW:-yes} == no && $tool != chroot ]] || command -v $tool > /dev/null || fail "this needs $tool"
done
[[ -x $lower/usr/bin/apt-get ]] || fail "$lower is no root of Debian (debootstrap --variant=minbase SUITE FOLDER)"
mkdir -p "$out"
work=$(mktemp -d)
started=()
finish() {
    local each
    for each in "${started[@]}"; do kill "$each" 2> /dev/null || true; done
    umount -R --lazy "$work/root" 2> /dev/null || true
    rm -rf --one-file-system "$work"
}
trap finish EXIT
root=$work/root
mkdir "$work"/{root,upper,work}
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$work/upper,workdir=$work/work" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
mkdir -m 1777 "$root/tmp/.X11-unix"
# The window has a home of its own, so that it is a first one.
install -d -o $user -g $user "$root"/tmp/{terminal,window}
home=/tmp/terminal

inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

as_user() {
    chroot --userspec=$user:$user "$root" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 HOME=$home ${display:+DISPLAY="$display"} \
        ${OMP_WAIT_POLICY:+OMP_WAIT_POLICY="$OMP_WAIT_POLICY"} "$@"
}

# Every file with its kind, rights, owner and content, but what apt, dpkg, debconf and the loader keep for themselves.
list_files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/cache/apt -o -path ./var/lib/apt -o -path ./var/log -o \
        -path ./var/lib/dpkg -o -path ./var/cache/debconf -o -path ./var/cache/ldconfig -o -path ./etc/ld.so.cache \) -prune \
        -o -printf '%y %m %U:%G %p %l\n' | LC_ALL=C sort -k 4
        find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/log -o -path ./var/lib/dpkg \
            -o -path ./etc/ld.so.cache \) -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$1"
    # shellcheck disable=SC2016  # dpkg-query's fields
    inside dpkg-query -W -f '${binary:Package} ${Version} ${db:Status-Abbrev}\n' > "$1.packages"
}

# timed NAME COMMAND...: prints its seconds; its output only if it fails.
timed() {
    local name=$1 before=$EPOCHREALTIME
    shift
    "$@" > "$work/said" 2>&1 || { cat "$work/said"; fail "$name"; }
    awk -v name="$name" -v a="$before" -v b="$EPOCHREALTIME" 'BEGIN {printf "%-40s %7.1f s\n", name, b - a}'
}

# until WHAT COMMAND...: until it succeeds.
until_it() {
    local what=$1 end=$((SECONDS + patience))
    shift
    until "$@"; do
        ((SECONDS < end)) || fail "no $what within $patience s"
        sleep 0.2
    done
}

find_window() {
    kill -0 "$program" 2> /dev/null || { cat "$work/window"; fail "the window ended"; }
    handle=$(DISPLAY=$display xdotool search --onlyvisible --name Halftone 2> /dev/null | tail -1)
    [[ $handle ]] && DISPLAY=$display xdotool windowsize "$handle" 1440 900 windowmove "$handle" 0 0 windowactivate --sync "$handle" 2> /dev/null
}

ended_runs() {  # COUNT
    (($(grep -l '"event":"done"' "$root$home"/.local/share/halftone/runs/*/events.jsonl 2> /dev/null | wc -l) == $1))
}

picture_is_still() {
    DISPLAY=$display import -window root "$work/now.png"
    local before=${last:-}
    last=$(md5sum < "$work/now.png")
    [[ $last == "$before" ]]
}

try_window() {  # COMMAND
    local number server
    coproc server { exec Xvfb -displayfd 1 -ac -nolisten tcp -screen 0 1440x900x24 2> /dev/null; }
    started+=("$server_PID")
    read -r number <&"${server[0]}"
    display=:$number home=/tmp/window
    touch "$root/tmp/.X11-unix/X$number"
    mount --bind "/tmp/.X11-unix/X$number" "$root/tmp/.X11-unix/X$number"
    DISPLAY=$display openbox > /dev/null 2>&1 &
    started+=($!)
    as_user "$1" > "$work/window" 2>&1 &
    program=$!
    started+=("$program")
    until_it "window" find_window
    until_it "still window" picture_is_still
    cp "$work/now.png" "$out/$title-first.png"
    DISPLAY=$display xdotool key --window "$handle" ctrl+Return
    until_it "two trained runs" ended_runs 2
    until_it "still window" picture_is_still
    cp "$work/now.png" "$out/$title-compared.png"
    DISPLAY=$display xdotool key --window "$handle" ctrl+q || true
    local code=0
    wait "$program" || code=$?
    ((code == 0)) || { cat "$work/window"; fail "the window ended with $code"; }
    display=
    echo "the window trained the default comparison and closed; it printed $(wc -l < "$work/window") lines"
    head -5 "$work/window"
}

title=$(basename "$lower")
# shellcheck source=/dev/null
echo "$(. "$lower/etc/os-release"; echo "$PRETTY_NAME"), $(basename "$package")"
# shellcheck disable=SC2016  # dpkg-query's fields
installed() { inside dpkg-query -W -f '${binary:Package}\n'; }
if [[ $package == *.deb ]]; then
    name=$(dpkg-deb --field "$package" Package) command=/usr/bin/halftone
    mkdir "$root/tmp/package"
    cp "$package" "$root/tmp/package/"
    installed > "$work/empty"
    timed "apt-get update" inside apt-get update
    needed=()
    for field in Depends Recommends; do
        packages=$(dpkg-deb --field "$package" $field)
        [[ ! $packages ]] || needed+=("$packages")
    done
    timed "the packages it needs and recommends" inside apt-get satisfy -y "${needed[@]}"
    echo "$(($(installed | wc -l) - $(wc -l < "$work/empty"))) packages"
fi
list_files "$work/before"
if [[ $package == *.deb ]]; then
    timed "apt-get install" inside apt-get install -y "/tmp/package/$(basename "$package")"
    (($(installed | wc -l) == $(wc -l < "$work/before.packages") + 1)) || fail "the package brought others"
else
    command=/opt/halftone/AppRun title+=-portable
    timed "unpacking" tar -xf "$package" -C "$root/opt"
fi
as_user $command --version
as_user $command doctor > "$out/$title-doctor.txt" || fail "doctor: $(cat "$out/$title-doctor.txt")"
timed "halftone compare" as_user $command compare
tail -3 "$work/said"
if [[ ${HALFTONE_WINDOW:-yes} != no ]]; then try_window $command; fi
(cd "$root/tmp" && find terminal window -mindepth 1 -maxdepth 4 | sed -E 's|^[a-z]+|left to the user: ~|' | sort -u)
if [[ $package == *.deb ]]; then
    timed "apt-get purge" inside apt-get purge -y "$name"
else
    rm -r "$root/opt/halftone"
fi
list_files "$work/after"
status=0
diff "$work/before" "$work/after" || status=1
diff "$work/before.packages" "$work/after.packages" || status=1
((status == 0)) || fail "files are left or have changed, see above"
if [[ $package == *.deb ]]; then
    # As if they had come with the package.
    installed | { grep -vxFf "$work/empty" || true; } | inside xargs --no-run-if-empty apt-mark auto > /dev/null
    timed "apt-get autoremove --purge" inside apt-get autoremove -y --purge
    # apt keeps a package that another one recommends, as it does without Halftone.
    echo "$(installed | { grep -vxFf "$work/empty" || true; } | wc -l) of Debian's packages stay"
fi
echo "nothing is left: $(wc -l < "$work/before") lines of files, owners, rights and sums are as before"
