#pragma once

#include <string>
#include <vector>

#include "tensor/module_scope.h"
#include "tensor/observer.h"

namespace engine {

/// Logs each op with the module in which it runs, "linear in fc1"; forward and backward ops
/// separately.
class OpLog final : public OpObserver {
public:
    void on_op(const OpEvent& event) override {
        auto& list = event.in_backward ? backward : forward;
        list.push_back(std::string(event.info->name) + " in " + current_module());
    }

    std::vector<std::string> forward, backward;
};

}  // namespace engine
