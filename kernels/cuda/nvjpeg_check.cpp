#include <nvjpeg.h>

#include "cuda/nvjpeg_api.h"
#include "cuda/same_call.h"

// nvjpeg_api.h against the header that comes with the library.
namespace kernels::cuda::nvjpeg {

#define HALFTONE_SAME(ours, theirs) \
    static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
HALFTONE_SAME(success, NVJPEG_STATUS_SUCCESS);
HALFTONE_SAME(invalid_parameter, NVJPEG_STATUS_INVALID_PARAMETER);
HALFTONE_SAME(bad_jpeg, NVJPEG_STATUS_BAD_JPEG);
HALFTONE_SAME(jpeg_not_supported, NVJPEG_STATUS_JPEG_NOT_SUPPORTED);
HALFTONE_SAME(allocator_failure, NVJPEG_STATUS_ALLOCATOR_FAILURE);
HALFTONE_SAME(implementation_not_supported, NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED);
HALFTONE_SAME(incomplete_bitstream, NVJPEG_STATUS_INCOMPLETE_BITSTREAM);
HALFTONE_SAME(Backend::standard, NVJPEG_BACKEND_DEFAULT);
HALFTONE_SAME(OutputFormat::rgb_interleaved, NVJPEG_OUTPUT_RGBI);
HALFTONE_SAME(Subsampling::unknown, NVJPEG_CSS_UNKNOWN);
HALFTONE_SAME(Property::major, MAJOR_VERSION);
HALFTONE_SAME(Property::minor, MINOR_VERSION);
HALFTONE_SAME(Property::patch, PATCH_LEVEL);
HALFTONE_SAME(strict, (NVJPEG_FLAGS_BITSTREAM_STRICT));
HALFTONE_SAME(interpolated, (NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION));
HALFTONE_SAME(most_components, NVJPEG_MAX_COMPONENT);
#undef HALFTONE_SAME

static_assert(sizeof(Image) == sizeof(nvjpegImage_t));
static_assert(offsetof(Image, pitch) == offsetof(nvjpegImage_t, pitch));

namespace {

constexpr Table none{};
static_assert(same_call(&nvjpegGetProperty, none.property));
static_assert(same_call(&nvjpegCreateEx, none.create));
static_assert(same_call(&nvjpegDestroy, none.destroy));
static_assert(same_call(&nvjpegJpegStateCreate, none.state_create));
static_assert(same_call(&nvjpegJpegStateDestroy, none.state_destroy));
static_assert(same_call(&nvjpegGetImageInfo, none.image_info));
static_assert(same_call(&nvjpegDecode, none.decode));

}  // namespace
}  // namespace kernels::cuda::nvjpeg
