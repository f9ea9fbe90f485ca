#include <cstddef>
#include <cstdint>

#include "engine/base/error.h"
#include "io/pickle/torch_file.h"
#include "scratch_file.h"
#include "tensor/memory/memory.h"

/// Large tensors do not come from malloc, so the sanitizer does not bound them.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    engine::set_memory_limit(std::size_t{256} << 20);
    return 0;
}

/// Uses the bytes as a file that torch.save wrote. Checksums keep most inputs from the pickle,
/// which pickle_fuzz tests by itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file("torch.pt");
    file.write(reinterpret_cast<const char*>(data), size);
    try {
        engine::load_torch_weights(file.path());
    } catch (const engine::Error&) {
    }
    return 0;
}
