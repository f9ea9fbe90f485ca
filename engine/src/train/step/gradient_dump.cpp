#include "train/step/gradient_dump.h"

#include "io/safetensors/safetensors.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {

void GradientDump::before_update(const StepView& step) {
    if (step.phase + 1 < step.task.phases().size()) return;
    written_ = true;
    const GradMode off(false);
    const MetricSums sums = sums_.host();
    const Tensor loss_scale = step.precision.loss_scale();
    const double scale = loss_scale.defined() ? loss_scale.item() : 1;
    TensorList held;
    std::vector<TensorEntry> entries;
    const auto add_entry = [&](const std::string& name, const Tensor& value) {
        held.push_back(
            in_layout(to(value.detach(), DType::f32), Layout::contiguous).copy_to(Device{}));
        const Tensor& kept = held.back();
        entries.push_back({name,
                           "F32",
                           {kept.shape().begin(), kept.shape().end()},
                           {kept.data_as<const std::byte>(), kept.bytes()}});
    };
    add_entry("loss", Tensor::full({}, sums.loss / sums.weight, DType::f32, Device{}));
    for (const auto& parameter : step.model.parameters()) {
        const Tensor grad = parameter.tensor.grad();
        if (grad.defined())
            add_entry("grad." + parameter.name, mul(to(to_dense(grad), DType::f32), 1.0 / scale));
    }
    write_safetensors(path_, entries, {});
}

}  // namespace engine
