#pragma once

#include <gtest/gtest.h>

#include "kernels/device.h"

/// First line of a test that needs a CUDA device, real or simulated.
#define HALFTONE_NEEDS_CUDA()                 \
    if (::kernels::cuda::device_count() == 0) \
    GTEST_SKIP() << "no CUDA device: " << ::kernels::cuda::why_absent()
