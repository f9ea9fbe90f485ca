#include <cstddef>
#include <cstdint>

#include "engine/error.h"
#include "pickle/torch_file.h"
#include "scratch_file.h"

/// Uses the bytes as a file that torch.save wrote. Checksums keep most inputs from the pickle,
/// which pickle_fuzz tests by itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file("torch.pt");
    file.write(reinterpret_cast<const char*>(data), size);
    try {
        engine::load_torch_tensors(file.path());
    } catch (const engine::Error&) {
    }
    return 0;
}
