#pragma once

#include <gtest/gtest.h>

#include "kernels/cuda_device.h"
#include "kernels/device.h"
#include "kernels/device_error.h"

/// Whether the CUDA device is the simulated one, on which a kernel takes a thousand times as long.
inline bool is_simulated_device() {
    return kernels::cuda::device_count() > 0 &&
           kernels::cuda::device_info(0).name == "Simulated device";
}

/// First line of a test that needs a CUDA device, real or simulated. Fails if an earlier test of
/// the program has lost the device, since the test's result would be unknown.
#define HALFTONE_NEEDS_CUDA()                                              \
    if (const auto died_of = ::kernels::cuda::lost_to(); !died_of.empty()) \
        FAIL() << "an earlier test has lost the CUDA device: " << died_of; \
    if (::kernels::cuda::device_count() == 0)                              \
    GTEST_SKIP() << "no CUDA device: " << ::kernels::cuda::why_absent()
