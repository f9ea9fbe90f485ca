// Reads the bytes as an annotation of Pascal VOC.
#include <cstddef>
#include <cstdint>

#include "data/detection/voc_xml.h"
#include "engine/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        engine::read_voc_xml({reinterpret_cast<const char*>(data), size}, "fuzz");
    } catch (const engine::Error&) {
    }
    return 0;
}
