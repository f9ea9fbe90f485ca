#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensor/module_scope.h"
#include "tensor/observer.h"
#include "tensor/tape.h"

namespace engine {

/// Logs the modules in which ops run, without consecutive repetitions; forward, recomputed and
/// backward ops separately.
class ModuleLog final : public OpObserver {
public:
    void on_op(const OpEvent& event) override {
        // Represents its whole block, whose ops are logged as they run.
        if (std::string_view(event.info->name) == "checkpoint") return;
        auto& list = recomputing() ? recomputed : event.in_backward ? backward : forward;
        if (list.empty() || list.back() != current_module()) list.push_back(current_module());
    }

    std::vector<std::string> forward, recomputed, backward;
};

}  // namespace engine
