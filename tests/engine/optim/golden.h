#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/golden_file.h"

namespace engine {

/// The file that tests/peer/optim_golden.py writes.
struct Golden : test::GoldenFile {
    Golden() : GoldenFile("optim") {}
};

inline void expect_near(const Tensor& ours, const Tensor& theirs, double tolerance,
                        const std::string& what) {
    ASSERT_TRUE(ours.shape() == theirs.shape()) << what;
    const auto a = ours.values(), b = theirs.values();
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], tolerance) << what << " element " << i;
}

}  // namespace engine
