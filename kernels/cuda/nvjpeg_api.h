#pragma once

#include <cstddef>

/// The part of nvJPEG's binary interface that is used here: opaque handles, numbers and a table of
/// functions. library_checks.cpp holds it against NVIDIA's own header, where that is found.
namespace kernels::cuda::nvjpeg {

using Status = int;
constexpr Status success = 0, invalid_parameter = 2, bad_jpeg = 3, jpeg_not_supported = 4,
                 allocator_failure = 5, implementation_not_supported = 9, incomplete_bitstream = 10;

enum class Backend : int { standard = 0 };
enum class OutputFormat : int { rgb_interleaved = 5 };
enum class Subsampling : int { unknown = -1 };
enum class Property : int { major = 0, minor = 1, patch = 2 };

/// A damaged stream is an error; colours between the chroma samples are interpolated, as libjpeg
/// does it.
constexpr unsigned strict = 4, interpolated = 32;

constexpr std::size_t max_components = 4;
struct Image {
    unsigned char* channel[max_components];
    std::size_t pitch[max_components];  ///< bytes from one row to the next
};

struct Context;
struct StateOpaque;
struct DeviceAllocator;
struct PinnedAllocator;
using Handle = Context*;
using State = StateOpaque*;

struct Table {
    Status (*property)(Property, int*);
    Status (*create)(Backend, DeviceAllocator*, PinnedAllocator*, unsigned flags, Handle*);
    Status (*destroy)(Handle);
    Status (*state_create)(Handle, State*);
    Status (*state_destroy)(State);
    Status (*image_info)(Handle, const unsigned char*, std::size_t, int* components, Subsampling*,
                         int* widths, int* heights);
    Status (*decode)(Handle, State, const unsigned char*, std::size_t, OutputFormat, Image*,
                     void* stream);
};

/// The members of Table by their names in the library.
#define HALFTONE_NVJPEG_CALLS(CALL) \
    CALL(property, nvjpegGetProperty) \
    CALL(create, nvjpegCreateEx) \
    CALL(destroy, nvjpegDestroy) \
    CALL(state_create, nvjpegJpegStateCreate) \
    CALL(state_destroy, nvjpegJpegStateDestroy) \
    CALL(image_info, nvjpegGetImageInfo) \
    CALL(decode, nvjpegDecode)

/// The opened library's. Throws DeviceError if it is not there.
const Table& table();

}  // namespace kernels::cuda::nvjpeg
