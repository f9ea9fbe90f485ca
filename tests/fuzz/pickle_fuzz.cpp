#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/pickle/torch_rules.h"

/// Uses the bytes as the pickle of a PyTorch file. Every resulting tensor must be within its
/// storage.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    engine::TorchRules rules;
    try {
        const engine::PickleValues all =
            engine::unpickle({reinterpret_cast<const char*>(data), size}, rules);
        for (const engine::PickleValue& value : all.values) {
            const engine::TorchTensor* tensor = rules.tensor(value);
            if (tensor == nullptr || tensor->numel() == 0) continue;
            std::int64_t last = tensor->offset;
            for (std::size_t i = 0; i < tensor->shape.size(); ++i)
                last += (tensor->shape[i] - 1) * tensor->strides[i];
            if (last < 0 ||
                static_cast<std::uint64_t>(last) >= rules.storages()[tensor->storage].numel)
                __builtin_trap();
        }
    } catch (const engine::PickleFault&) {
    }
    return 0;
}
