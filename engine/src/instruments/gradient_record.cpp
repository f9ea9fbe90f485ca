#include "instruments/gradient_record.h"

#include <cmath>

#include "core/layout.h"
#include "file/sha256.h"
#include "instruments/tensor_scan.h"

namespace engine {

void GradientRecord::before_update(const StepView& step) {
    for (Optimizer* const optimizer : step.optimizers) {
        for (const Parameter& parameter : optimizer->parameters()) {
            const Tensor gradient = parameter.tensor.grad();
            if (!gradient.defined()) continue;
            const Tensor host =
                in_layout(stored_values(gradient).detach(), Layout::contiguous).copy_to(Device{});
            digests_[parameter.name] = sha256_of({host.data_as<std::byte>(), host.bytes()});
            double squares = 0;
            for (const double value : host.values()) squares += value * value;
            norms_[parameter.name] = std::sqrt(squares);
        }
    }
}

GradientFigures GradientRecord::figures() const {
    std::string all;
    for (const auto& [name, digest] : digests_) all += name + ' ' + digest + '\n';
    return {sha256_of(std::as_bytes(std::span(all))), norms_};
}

}  // namespace engine
