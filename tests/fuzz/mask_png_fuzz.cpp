// Reads the bytes as a PNG of numbers, and the size of a picture.
#include <cstddef>
#include <cstdint>

#include "engine/base/error.h"
#include "io/picture/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace engine;
    try {
        if (is_png({data, size})) read_number_png({data, size}, "fuzz");
    } catch (const Error&) {
    }
    try {
        read_jpeg_header({data, size}, "fuzz");
    } catch (const Error&) {
    }
    return 0;
}
