#!/usr/bin/env bash
# prefix.sh [FOLDER]: copies the headers and libraries for a build without the window from this machine's packages into
# one folder that can be moved (default build/prefix), and packs it as FOLDER.tar.xz. The compiler, CMake and CUDA are
# not included. For a GPU machine that has no network and lacks these packages: unpack the file there, then
#
#     cmake -C FOLDER/prefix.cmake -S . -B build/gpu -DCMAKE_BUILD_TYPE=Release && cmake --build build/gpu
#
# Programs built this way search for the libraries at the path that the folder had during the build. libc, libstdc++ and
# libgomp come from the other machine and must not be older than on this one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
prefix=${1:-build/prefix}
prefix=${prefix%/}
multiarch=$(gcc -print-multiarch)
system=/usr/lib/$multiarch

fail() {
    echo "prefix.sh: $1" >&2
    exit 1
}

# Headers as paths below /usr/include, libraries as the names that follow the linker's -l.
headers=(oneapi dnnl.h dnnl.hpp dnnl_config.h dnnl_debug.h dnnl_types.h dnnl_version.h hwy nlohmann CLI archive.h
         archive_entry.h sqlite3.h sqlite3ext.h csv.h utf8proc.h nettle httplib.h openssl "$multiarch/openssl" brotli protozero tao expat.h expat_external.h png.h pngconf.h pnglibconf.h libpng16 jpeglib.h jerror.h jmorecfg.h "$multiarch/jconfig.h" jconfig.h zlib.h zconf.h "$multiarch/zconf.h" lzma.h lzma gtest gmock benchmark)
shared=(dnnl hwy z lzma archive sqlite3 csv utf8proc nettle cpp-httplib expat png jpeg)
static=(gtest gtest_main gmock gmock_main)
# Not copied: these belong to the compiler and C library of each machine.
base='^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp|resolv|util)\.so|ld-linux)'

soname() { objdump -p "$1" | awk '$1 == "SONAME" {print $2}'; }

find_shared() {  # SONAME
    local folder
    for folder in "$system" "/lib/$multiarch" /usr/lib; do
        [[ -e $folder/$1 ]] && { echo "$folder/$1"; return; }
    done
    fail "$1 is not on this machine"
}

# Copies a shared library, named by its soname, and the libraries that it needs.
copy_shared() {  # FILE
    local file needed name
    file=$(readlink -f "$1")
    name=$(soname "$file")
    [[ -e $new/lib/$name ]] && return
    cp "$file" "$new/lib/$name"
    while read -r needed; do
        [[ $needed =~ $base ]] || copy_shared "$(find_shared "$needed")"
    done < <(objdump -p "$file" | awk '$1 == "NEEDED" {print $2}')
}

copy_headers() {
    local header
    for header in "${headers[@]}"; do
        [[ ! -e /usr/include/$header ]] || cp -rL "/usr/include/$header" "$new/include/"
    done
}

copy_libraries() {
    local name file
    for name in "${shared[@]}"; do
        file=$system/lib$name.so
        [[ -e $file ]] || fail "lib$name.so is not here: installer/test.sh installs what is missing"
        copy_shared "$file"
        ln -sf "$(soname "$(readlink -f "$file")")" "$new/lib/lib$name.so"
    done
    for name in "${static[@]}"; do cp "$system/lib$name.a" "$new/lib/"; done
    if [[ -e $system/libbenchmark.so ]]; then
        copy_shared "$system/libbenchmark.so"
        ln -sf "$(soname "$(readlink -f "$system/libbenchmark.so")")" "$new/lib/libbenchmark.so"
        cp "$system/libbenchmark_main.a" "$new/lib/"
    fi
}

# Writes a short CMake package file, because the installed ones contain the distribution's absolute paths.
describe_package() {  # NAME TARGET LIBRARY|"" [DEFINITION]
    local folder=$new/lib/cmake/$1
    mkdir -p "$folder"
    {
        # shellcheck disable=SC2016  # CMake's variable
        echo 'get_filename_component(_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)'
        echo "if(NOT TARGET $2)"
        echo "  add_library($2 $([[ $3 ]] && echo UNKNOWN || echo INTERFACE) IMPORTED)"
        echo "  set_target_properties($2 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES \"\${_root}/include\""
        [[ $3 ]] && echo "    IMPORTED_LOCATION \"\${_root}/lib/$3\""
        [[ ${4:-} ]] && echo "    INTERFACE_COMPILE_DEFINITIONS \"$4\""
        echo "  )"
        echo "endif()"
    } >>"$folder/$1Config.cmake"
}

describe_packages() {
    describe_package hwy hwy::hwy libhwy.so HWY_SHARED_DEFINE
    describe_package nlohmann_json nlohmann_json::nlohmann_json ""
    describe_package CLI11 CLI11::CLI11 ""
    [[ ! -e $new/lib/libbenchmark.so ]] || {
        describe_package benchmark benchmark::benchmark libbenchmark.so
        describe_package benchmark benchmark::benchmark_main libbenchmark_main.a
    }
}

write_cache() {
    cat >"$new/prefix.cmake" <<'CMAKE'
# For cmake -C: builds against this folder. DT_RPATH, not DT_RUNPATH, because the loader uses only DT_RPATH to find the
# libraries that other libraries need.
set(CMAKE_PREFIX_PATH "${CMAKE_CURRENT_LIST_DIR}" CACHE PATH "")
set(CMAKE_EXE_LINKER_FLAGS
    "-Wl,--disable-new-dtags -Wl,-rpath,${CMAKE_CURRENT_LIST_DIR}/lib -Wl,-rpath-link,${CMAKE_CURRENT_LIST_DIR}/lib"
    CACHE STRING "")
set(HALFTONE_UI OFF CACHE BOOL "")
CMAKE
}

copy_frontend() {
    if ./installer/cudnn_frontend.sh; then
        cp -r build/cudnn-frontend/include/. "$new/include/"
    fi
}

new=$prefix.new
rm -rf "$new"
mkdir -p "$new/include" "$new/lib"
copy_headers
copy_libraries
describe_packages
write_cache
copy_frontend
rm -rf "$prefix"
mv "$new" "$prefix"
tar -C "$(dirname "$prefix")" --owner=0 --group=0 -cf - "$(basename "$prefix")" | xz -T2 -9 >"$prefix.tar.xz"
echo "prefix.sh: $prefix ($(du -sh "$prefix" | cut -f1)), $prefix.tar.xz ($(du -h "$prefix.tar.xz" | cut -f1))"
