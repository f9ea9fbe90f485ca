#include "instruments/capsule/gradient_record.h"

#include <cmath>

#include "instruments/replay/phase_gradients.h"
#include "instruments/replay/tensor_scan.h"
#include "io/file/sha256.h"
#include "tensor/layout.h"

namespace engine {

void GradientRecord::before_update(const StepView& step) {
    for_each_gradient(step, [&](const PhaseGradient& gradient) {
        const Tensor host = in_layout(stored_values(gradient.values).detach(), Layout::contiguous)
                                .copy_to(Device{});
        digests_[gradient.name] = sha256_of({host.data_as<std::byte>(), host.bytes()});
        double squares = 0;
        for (const double value : host.values()) squares += value * value;
        norms_[gradient.name] = std::sqrt(squares);
    });
}

GradientFigures GradientRecord::figures() const {
    std::string all;
    for (const auto& [name, digest] : digests_) all += name + ' ' + digest + '\n';
    return {sha256_of(std::as_bytes(std::span(all))), norms_};
}

}  // namespace engine
