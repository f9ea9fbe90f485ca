#include "instruments/histograms/counted_tensors.h"

#include <system_error>

#include "io/file/atomic_file.h"
#include "io/safetensors/tensor_file.h"
#include "ops/index/sparse.h"
#include "tensor/layout.h"
#include "tensor/tape.h"

namespace engine {
namespace {

std::string unused_name(const TensorMap& taken, const std::string& name) {
    std::string out = name;
    for (int number = 2; taken.contains(out); ++number) out = name + '_' + std::to_string(number);
    return out;
}

}  // namespace

void CountedTensors::add(HistogramKind kind, const std::string& name, const Tensor& values) {
    const GradMode off(false);
    const UseScope use(MemoryUse::workspace);
    const Tensor all = dense(values.is_sparse() ? to_dense(values) : values.detach());
    const Tensor copy = empty_like(all);  // the step goes on and may overwrite the original
    copy_into(copy, all);
    TensorMap& own = tensors_[static_cast<std::size_t>(kind)];
    own[unused_name(own, name)] = copy.copy_to(Device{});
}

void CountedTensors::write(const std::filesystem::path& folder) const {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw_write_error(folder, error.value());
    for (std::size_t kind = 0; kind < tensors_.size(); ++kind) {
        const std::string name(to_string(static_cast<HistogramKind>(kind)));
        save_tensors(folder / (name + ".safetensors"), tensors_[kind]);
    }
}

}  // namespace engine
