#pragma once

#include <gtest/gtest.h>

#include "kernels/cuda_libraries.h"

namespace kernels::test {

inline const cuda::LibraryInfo& cudnn() {
    static const cuda::LibraryInfo info = [] {
        for (const auto& library : cuda::libraries())
            if (library.name == "cuDNN") return library;
        return cuda::LibraryInfo{};
    }();
    return info;
}

#define HALFTONE_NEEDS_CUDNN() \
    if (!cudnn().found) GTEST_SKIP() << "no cuDNN: " << cudnn().problem

}  // namespace kernels::test
