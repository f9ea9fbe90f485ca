#!/usr/bin/env bash
# kit_test.sh: installer/gpu_kit.sh on stand-ins for the programs: what it packs runs where it is unpacked, with the build gone,
# and by run.sh.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# A tree with the two scripts and a comparison, and a cmake that makes programs of it: each has its rules from a library that
# lies in the build, where the program looks for it as gpu_kit.sh says.
tree=$work/tree
mkdir -p "$tree"/{installer,tests/gpu,tests/bench,tests/peer/golden} "$work/bin"
cp "$root"/installer/{gpu_kit,check_glibc}.sh "$tree/installer/"
cp "$root"/tests/gpu/run.sh "$tree/tests/gpu/"
printf '%s\n' '#!/bin/sh' "echo frontend >> '$work/cmake.log'" > "$tree/installer/cudnn_frontend.sh"
chmod +x "$tree/installer/cudnn_frontend.sh"
echo 'print(1)' > "$tree/tests/peer/op_cases.py"
echo 'print(2)' > "$tree/tests/bench/compare.py"
echo '{}' > "$tree/tests/peer/golden/models.json"
echo 'source' > "$tree/tests/peer/steps.cpp"
head -c $((3 * 1048576 - 40000)) /dev/zero > "$tree/tests/peer/pictures.bin"
mkdir -p "$tree"/tests/peer/{__pycache__,.venv,build}
echo '{}' | tee "$tree"/tests/peer/{__pycache__,.venv,build}/left.json > /dev/null
cat > "$work/bin/cmake" << EOF
#!/usr/bin/env bash
set -e
echo "\$*" >> "$work/cmake.log"
for argument in "\$@"; do
    case \$argument in -DCMAKE_BUILD_RPATH=*) echo "\${argument#*=}" > "$work/rpath" ;; esac
done
[[ \$1 == --build ]] || exit 0
build=\$(realpath -m "\$2")
mkdir -p "\$build/engine"
options=()
if [[ -e "$work/apart/libapart.so" ]]; then
    options=(-Wl,--no-as-needed -L"$work/apart" -lapart -Wl,--enable-new-dtags -Wl,-rpath,"$work/apart")
fi
echo 'const char* rules() { return "cuda:0  A card"; }' |
    gcc -shared -fPIC -g -x c - -o "\$build/engine/libengine.so" "\${options[@]}"
shift 3
echo '#include <stdio.h>
      const char* rules(); int main() { puts(rules()); return 0; }' |
    gcc -g -x c - -o "\$build/program" -L"\$build/engine" -lengine -Wl,--disable-new-dtags \\
        -Wl,-rpath,"\$(tr ';' ':' < "$work/rpath"):\$build/engine"
for program in halftone \$("$tree/tests/gpu/run.sh" --programs | sed 's:^:tests/:'); do
    mkdir -p "\$(dirname "\$build/\$program")"
    cp "\$build/program" "\$build/\$program"
done
EOF
echo 13.0 > "$work/release"
printf '%s\n' '#!/bin/sh' "echo \"Cuda compilation tools, release \$(cat "$work/release"), V1\"" > "$work/bin/nvcc"
chmod +x "$work/bin"/*
mkdir -p "$work"/data/{fashion-mnist,cifar100-15k}
echo images | gzip > "$work/data/fashion-mnist/train-images-idx3-ubyte.gz"
echo apple > "$work/data/cifar100-15k/fine_label_names.txt"
head -c $((5100 * 3074)) /dev/zero | gzip > "$work/data/cifar100-15k/train.bin.gz"
head -c $((1000 * 3074)) /dev/zero | gzip > "$work/data/cifar100-15k/test.bin.gz"

kit() { env CUDACXX=nvcc PATH="$work/bin:$PATH" HALFTONE_DATA="$work/data" "$tree/installer/gpu_kit.sh" "$work/out" > "$work/log" 2>&1; }
kit || { complain "no kit"; cat "$work/log"; }
[[ $(head -1 "$work/cmake.log") == frontend ]] || complain "cudnn-frontend is not fetched before the build is configured"
grep -q 'HALFTONE_MPI=OFF.*HALFTONE_CUDA=REQUIRED.*ARCHITECTURES=90-real;100-real;120 .*LIBRARIES=SHARED' "$work/cmake.log" ||
    complain "$(cat "$work/cmake.log")"
grep -q '^the tree: 3.0 MiB$' "$work/log" || complain "the tree's size: $(cat "$work/log")"
for name in halftone-gpu halftone-gpu-data; do
    grep -q "$name.tar.xz: [0-9.]* MiB, with the tree 3.[0-9] MiB" "$work/log" || complain "no size of $name"
done

# Without git, and with the compiler of CUDA 12: the files of the tree count, but not builds and data.
mkdir "$tree/data"
head -c $((5 * 1048576)) /dev/zero > "$tree/data/train.bin"
printf '%s\n' '#!/bin/sh' 'exit 127' > "$work/bin/git"
echo 12.9 > "$work/release"
chmod +x "$work/bin/git"
kit || { complain "no kit without git"; cat "$work/log"; }
grep -q '^the tree: 3.0 MiB$' "$work/log" || complain "the tree's size without git: $(cat "$work/log")"
tar -tf "$work"/out/halftone-gpu.tar.xz | grep -q '^./tests/peer/op_cases.py$' || complain "no scripts without git"
tail -2 "$work/cmake.log" | grep -q 'ARCHITECTURES=75-real;80-real;86-real;89-real;90 ' ||
    complain "$(tail -2 "$work/cmake.log")"
rm -r "$work/bin/git" "$tree/data"
echo 13.0 > "$work/release"

# Chosen architectures.
HALFTONE_ARCH='80;86' kit || complain "no kit of chosen architectures"
tail -2 "$work/cmake.log" | grep -q 'ARCHITECTURES=80;86 ' || complain "$(tail -2 "$work/cmake.log")"

mv "$tree/build" "$work/gone"
mkdir "$work/elsewhere"
for archive in "$work"/out/*.tar.xz; do tar -xJf "$archive" -C "$work/elsewhere"; done
cd "$work/elsewhere" || exit
[[ $(prebuilt/halftone) == 'cuda:0  A card' ]] || complain "halftone does not run: $(prebuilt/halftone 2>&1)"
[[ $(prebuilt/tests/engine/device_test) == 'cuda:0  A card' ]] || complain "a test does not run"
[[ -e prebuilt/lib/libengine.so && ! -e prebuilt/lib/libc.so.6 ]] || complain "libraries: $(ls prebuilt/lib)"
! readelf -S prebuilt/halftone prebuilt/lib/libengine.so | grep -q debug_info || complain "not stripped"
[[ -e tests/peer/golden/models.json && -e tests/peer/op_cases.py && ! -e tests/peer/steps.cpp ]] || complain "$(find tests)"
[[ -z $(find . -name left.json) ]] || complain "files that do not belong to the source: $(find . -name left.json)"
(($(gzip -dc data/cifar100-5k/train.bin.gz | wc -c) == 5000 * 3074)) || complain "pictures"
[[ $(gzip -dc data/fashion-mnist/train-images-idx3-ubyte.gz) == images && -e data/cifar100-5k/fine_label_names.txt ]] ||
    complain "data"
(($(stat -c %s data/cifar100-5k/train.bin.gz) > 5000 * 3074)) || complain "pictures are compressed twice"
[[ $(cat prebuilt/cifar100/fine_label_names.txt) == apple ]] || complain "no names of classes beside the programs"
tests/gpu/run.sh build > "$work/log" 2>&1 || { complain "run.sh"; cat "$work/log"; }
grep -q '^| build | passed .*cuda:0' "$work/log" || complain "run.sh: $(cat "$work/log")"

# Outside libraries, archives beyond the limit and missing pictures are errors.
mv "$work/gone" "$tree/build"
mkdir "$work/apart"
echo 'int apart;' | gcc -shared -fPIC -x c - -o "$work/apart/libapart.so"
kit && complain "a kit with a library that looks for another one outside it"
grep -q "not from the kit: $work/apart/libapart.so" "$work/log" || complain "$(cat "$work/log")"
rm -r "$work/apart"
# So is a library for a newer glibc, here one that another library's symbol of that version stands for.
mkdir "$work/newer"
echo 'GLIBC_2.99 { global: newer; };' > "$work/newer/versions"
echo 'int newer() { return 1; }' |
    gcc -shared -fPIC -x c - -o "$work/libnewer.so" -Wl,--version-script="$work/newer/versions"
echo 'int newer(); int use() { return newer(); }' | gcc -shared -fPIC -x c - -o "$work/newer/libuse.so" -L"$work" -lnewer
"$root/installer/check_glibc.sh" 2.36 "$work/newer" > "$work/log" && complain "a library for a newer glibc passes"
grep -q "^$work/newer/libuse.so needs glibc 2.99$" "$work/log" || complain "$(cat "$work/log")"
"$root/installer/check_glibc.sh" 2.99 "$work/newer" > "$work/log" || complain "the version itself: $(cat "$work/log")"
"$root/installer/check_glibc.sh" 2.36 "$work/data" > "$work/log" 2>&1 && complain "a folder without programs passes"
rm -r "$work/newer" "$work/libnewer.so"
cp "$tree/installer/check_glibc.sh" "$work/check_glibc.sh"
printf '%s\n' '#!/bin/sh' 'echo "$2/halftone needs glibc 2.99"; exit 1' > "$tree/installer/check_glibc.sh"
kit && complain "a kit for a newer glibc"
grep -q 'would not start with glibc 2.36' "$work/log" || complain "$(cat "$work/log")"
cp "$work/check_glibc.sh" "$tree/installer/check_glibc.sh"
head -c $((2 * 1048576)) /dev/urandom > "$tree/tests/peer/golden/large.json"
HALFTONE_KIT_MIB=1 kit && complain "a kit of more than its limit"
grep -q 'halftone-gpu.tar.xz has [0-9]* bytes, more than' "$work/log" || complain "$(cat "$work/log")"
rm "$tree/tests/peer/golden/large.json"
head -c $((4000 * 3074)) /dev/zero | gzip > "$work/data/cifar100-15k/train.bin.gz"
kit && complain "too few pictures"
grep -q 'train.bin.gz does not hold 15370000 bytes' "$work/log" || complain "$(cat "$work/log")"

((failures == 0)) || exit 1
echo "gpu_kit.sh: all as expected"
