#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/module_scope.h"
#include "core/observer.h"
#include "core/tape.h"

namespace engine {

/// Modules in which ops run, each entry differing from the one before: of forward, recomputed and
/// backward ops apart.
class ModuleLog final : public OpObserver {
public:
    void on_op(const OpEvent& event) override {
        // Stands for its whole block, whose own ops are told as they run.
        if (std::string_view(event.info->name) == "checkpoint") return;
        auto& list = recomputing() ? recomputed : event.in_backward ? backward : forward;
        if (list.empty() || list.back() != current_module()) list.push_back(current_module());
    }

    std::vector<std::string> forward, recomputed, backward;
};

}  // namespace engine
