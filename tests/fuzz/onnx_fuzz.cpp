#include <cstdint>
#include <cstdlib>

#include "engine/base/error.h"
#include "engine/network/onnx_import.h"
#include "scratch_file.h"

// Any bytes are an ONNX model: they are refused with Error(data), or make a network without faults whose
// tensors have the numbers that their shapes say.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace engine;
    static const fuzz::ScratchFile file("onnx");
    file.write(reinterpret_cast<const char*>(data), size);
    try {
        const OnnxImport import = import_onnx(file.path());
        if (!check_network(import.text, import.data).usable() || import.report.empty()) std::abort();
        for (const OnnxImport::Tensor& tensor : import.tensors) {
            std::size_t count = 1;
            for (const std::int64_t each : tensor.sizes) count *= static_cast<std::size_t>(each);
            if (count != tensor.numbers.size()) std::abort();
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::data) std::abort();
    }
    return 0;
}
