#pragma once

/// For the few functions that host and kernels share.
#ifdef __CUDACC__
#define HALFTONE_HOST_DEVICE __host__ __device__
#else
#define HALFTONE_HOST_DEVICE
#endif
