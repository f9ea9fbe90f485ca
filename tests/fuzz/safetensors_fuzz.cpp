#include "io/safetensors/safetensors.h"

#include <cstdlib>

#include "engine/base/error.h"
#include "scratch_file.h"

// Uses the bytes as a safetensors file. Expects an Error, or that every tensor can be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file("tensors");
    file.write(reinterpret_cast<const char*>(data), size);
    try {
        const auto opened = engine::SafetensorsFile::open(file.path());
        unsigned sum = 0;
        for (const auto& tensor : opened.tensors()) {
            if (opened.find(tensor.name) != &tensor) std::abort();
            std::size_t count = 1;
            for (const auto n : tensor.shape) count *= static_cast<std::size_t>(n);
            if (count * engine::safetensors_item_bytes(tensor.dtype) != tensor.bytes.size())
                std::abort();
            for (const auto byte : tensor.bytes) sum += std::to_integer<unsigned>(byte);
        }
        volatile unsigned read = sum;
        static_cast<void>(read);
    } catch (const engine::Error&) {
    }
    return 0;
}
