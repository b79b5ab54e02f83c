#!/usr/bin/env bash
# usage: build_example.sh BUILD_DIR EXAMPLE_DIR CXX_FLAGS
set -euo pipefail
build=$1 example=$2 flags=$3
prefix=$build/package/prefix
rm -rf "$build/package"
cmake --install "$build" --prefix "$prefix" > "$build/package-install.log"
cmake -S "$example" -B "$build/package/example" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++-19 \
  -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="-fuse-ld=lld-19" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$build/package/example"
ctest --test-dir "$build/package/example" --output-on-failure
