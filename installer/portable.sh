#!/usr/bin/env bash
# portable.sh [FOLDER]: makes one archive of Halftone that runs without installation and without packages, in FOLDER (default:
# build/packages): halftone-VERSION-ARCHITECTURE.tar.xz, an AppDir. Unpack it anywhere and start halftone/AppRun. It is made on
# Debian 12 and needs glibc 2.36, and for the window a display. Where appimagetool is on PATH it makes an AppImage of the same
# folder, too.
#
# HALFTONE_BUILD=FOLDER   an existing build: Release, static, with the window and Open MPI, without CUDA (NOTICE)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=installer/release.sh
source installer/release.sh
out=$(realpath -m "${1:-build/packages}")
name=halftone glibc=2.36
build=${HALFTONE_BUILD:-build/portable}

# The C library and the loader: these alone are always the machine's.
c_library() {
    cat <<'LIST'
ld-linux-x86-64
ld-linux-aarch64
libc
libm
libdl
librt
libpthread
libresolv
libutil
LIST
}

# A display's libraries, which fit its drivers and its fonts. The machine's are taken if it has all of them; a server without a
# display gets those of the archive (usr/lib/spare), since the program is linked with them for its commands, too.
display_libraries() {
    cat <<'LIST'
libEGL
libGL
libGLX
libGLdispatch
libOpenGL
libgbm
libdrm
libX11
libX11-xcb
libxcb
libwayland-client
libfontconfig
libfreetype
libz
libexpat
LIST
}

# among LIST LIBRARY: LIST, a function, names the library.
among() {
    local name
    name=$(basename "$2")
    "$1" | grep -xF -- "${name%%.so*}" > /dev/null
}

# copy_libraries FOLDER LIBRARY...: by the names under which they are loaded.
copy_libraries() {
    local library folder=$1
    shift
    mkdir -p "$folder"
    for library in "$@"; do install -m644 "$(realpath "$library")" "$folder/$(basename "$library")"; done
}

# Sorts the libraries that the program, Qt's plugins and each other load into those that lie beside the program and spare ones.
choose_libraries() {  # FILE...
    local library
    for library in $(needed_libraries "$@"); do
        if among c_library "$library"; then
            continue
        elif among display_libraries "$library"; then
            spare+=("$library")
        else
            bundled+=("$library")
        fi
    done
}

# The plugins that the window uses: displays, input methods, dark themes, pictures. Printing to a printer is left out, since its
# libraries are a tenth of the archive; printing to PDF needs none.
plugins() {
    cat <<'LIST'
platforms/libqxcb.so
platforms/libqoffscreen.so
platforms/libqwayland-generic.so
platforms/libqwayland-egl.so
platforminputcontexts/libcomposeplatforminputcontextplugin.so
platforminputcontexts/libibusplatforminputcontextplugin.so
platformthemes/libqxdgdesktopportal.so
xcbglintegrations/libqxcb-egl-integration.so
xcbglintegrations/libqxcb-glx-integration.so
wayland-shell-integration/libxdg-shell.so
wayland-decoration-client/libbradient.so
wayland-graphics-integration-client/libqt-plugin-wayland-egl.so
iconengines/libqsvgicon.so
imageformats/libqsvg.so
imageformats/libqjpeg.so
LIST
}

qt_folder() {  # plugins|translations
    local tool
    for tool in qtpaths6 qmake6 /usr/lib/qt6/bin/qmake; do
        command -v "$tool" > /dev/null || continue
        if [[ $tool == qtpaths6 ]]; then "$tool" --query "QT_INSTALL_${1^^}"; else "$tool" -query "QT_INSTALL_${1^^}"; fi
        return
    done
    fail "no qmake6 here, which names the folder of Qt's $1"
}

# Letters for a machine that has no fonts, such as a server whose window is seen on another one.
stage_fonts() {  # FOLDER
    local font file
    for font in DejaVuSans DejaVuSans-Bold DejaVuSansMono DejaVuSansMono-Bold; do
        file=/usr/share/fonts/truetype/dejavu/$font.ttf
        [[ -e $file ]] || fail "$file is missing: install fonts-dejavu-core"
        install -D -m644 -t "$1" "$file"
        bundled_fonts+=("$file")
    done
    install -m644 /usr/share/doc/fonts-dejavu-core/copyright "$1/"
    cat > "$1/fonts.conf" << 'EOF'
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">.</dir>
  <dir prefix="xdg">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
EOF
}

write_start() {  # FILE
    cat > "$1" << 'EOF'
#!/bin/sh
# Starts Halftone from the folder in which this file lies, wherever that is. The program finds its own libraries by itself. Where
# the machine lacks one of a display's, all of these are taken from the archive; where it has no fonts, those of the archive.
here=$(dirname "$(readlink -f "$0")")
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE="${FONTCONFIG_FILE:-$here/usr/share/spare-fonts/fonts.conf}"
program=$here/usr/bin/halftone
case $(LD_TRACE_LOADED_OBJECTS=1 "$program" 2> /dev/null) in
*"not found"*) export LD_LIBRARY_PATH="$here/usr/lib/spare${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
esac
exec "$program" "$@"
EOF
    chmod 755 "$1"
}

stage_files() {
    local plugin language qt=$work/halftone/usr
    DESTDIR=$work/halftone cmake --install "$build" --prefix /usr > /dev/null
    mkdir -p "$qt/lib" "$qt/plugins" "$qt/share/qt6"
    while read -r plugin; do
        if [[ -e $plugin_folder/$plugin ]]; then
            install -D -m644 "$plugin_folder/$plugin" "$qt/plugins/$plugin"
            loaded+=("$plugin_folder/$plugin")
        else
            echo "left out, because Qt here has no such plugin: $plugin"
        fi
    done < <(plugins)
    for plugin in platforms/libqxcb.so platforms/libqoffscreen.so platforms/libqwayland-generic.so; do
        [[ -e $qt/plugins/$plugin ]] || fail "Qt's plugin $plugin is missing: install qt6-base-dev and qt6-wayland"
    done
    choose_libraries "$build/halftone" "${loaded[@]}"
    copy_libraries "$qt/lib" "${bundled[@]}"
    copy_libraries "$qt/lib/spare" "${spare[@]}"
    # Qt's own texts in the window's other languages.
    for language in "$build"/i18n/ui_*.po; do
        language=$(basename "${language#*/ui_}" .po)
        install -D -m644 -t "$qt/translations" "$(qt_folder translations)/qtbase_$language.qm"
    done
    # The program looks here before it asks Qt where Qt was installed.
    printf '[Paths]\nPrefix = ..\nPlugins = plugins\nTranslations = translations\n' > "$qt/bin/qt.conf"
    find "$qt/bin" "$qt/lib" "$qt/plugins" -type f ! -name qt.conf -exec strip --strip-unneeded {} +
    set_run_paths "$qt"
    stage_fonts "$qt/share/spare-fonts"
    cp "$qt/share/applications/halftone.desktop" "$work/halftone/"
    cp "$qt/share/icons/hicolor/256x256/apps/halftone.png" "$work/halftone/"
    ln -s halftone.png "$work/halftone/.DirIcon"
    write_start "$work/halftone/AppRun"
    describe_place > "$work/halftone/README"
}

# Each file looks for libraries beside itself first, by $ORIGIN.
set_run_paths() {  # FOLDER
    local file up
    while IFS= read -r file; do
        up=$(realpath -m --relative-to="$(dirname "$file")" "$1/lib")
        if [[ $up == . ]]; then up="\$ORIGIN"; else up="\$ORIGIN/$up"; fi
        patchelf --force-rpath --set-rpath "$up" "$file"
    done < <(find "$1/bin" "$1/lib" "$1/plugins" -type f ! -name qt.conf)
}

describe_place() {
    cat << EOF
Halftone $version

Start AppRun, with or without a command: ./AppRun, ./AppRun compare, ./AppRun --help.

Needs glibc $glibc or newer, and the window a display (X11 or Wayland). A display's libraries are the machine's,
or those of usr/lib/spare where the machine lacks one; fonts are the machine's, or those of usr/share/spare-fonts (Latin, Greek,
Cyrillic) where it has none.

To put it into the menus: copy usr/share/applications/halftone.desktop to ~/.local/share/applications with the
path of AppRun in its line Exec, and usr/share/icons to ~/.local/share/icons.

To remove it, delete this folder. usr/share/doc/halftone has its terms; runs lie in ~/.local/share/halftone.
EOF
}

check_libraries() {
    local others
    others=$(find "$work/halftone/usr/bin/halftone" "$work/halftone/usr/plugins" -type f -exec ldd {} + |
        awk '/=> \// {print $3}' | sort -u | grep -v "^$work/" | while read -r library; do
        among c_library "$library" || among display_libraries "$library" || echo "$library"
    done)
    [[ ! $others ]] || fail "loaded from this machine, not from the archive: $others"
    installer/check_glibc.sh $glibc "$work/halftone" || fail "the archive would not start with glibc $glibc; make it on Debian 12"
}

make_archive() {
    mkdir -p "$out"
    file=$out/halftone-$version-$(uname -m).tar.xz
    local filter=()
    [[ $(uname -m) != x86_64 ]] || filter=(--x86)
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -cf - halftone | xz -T1 "${filter[@]}" --lzma2=preset=9e > "$file"
}

make_image() {
    if ! command -v appimagetool > /dev/null; then
        echo "no AppImage: appimagetool is not on PATH"
        return
    fi
    ARCH=$(uname -m) appimagetool --no-appstream "$work/halftone" "${file%.tar.xz}.AppImage" || fail "appimagetool made no AppImage"
}

command -v patchelf > /dev/null || fail "this needs patchelf"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
loaded=() bundled=() spare=() bundled_fonts=()
if [[ ! ${HALFTONE_BUILD:-} ]]; then
    install_packages || fail "the packages above could not be installed"
    build_release "$build" -DHALFTONE_UI=ON -DHALFTONE_CUDA=OFF
fi
check_build "$build" ON OFF
plugin_folder=$(qt_folder plugins)
stage_files
check_libraries
make_archive
check_size "$file" 45
make_image
describe_package "$file" "$build/halftone" "${bundled[@]}" "${spare[@]}" "${bundled_fonts[@]}"
echo "$file: $(megabytes "$file"), unpacked $(du -sm "$work/halftone" | cut -f 1) MB"
