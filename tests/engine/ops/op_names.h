#pragma once

#include <set>
#include <string>

#include "tensor/observer.h"

namespace engine {

/// Records the names of the ops that run while it lives.
class Names final : public OpObserver {
public:
    void on_op(const OpEvent& event) override { names_.emplace(event.info->name); }
    bool saw(const std::string& name) const { return names_.count(name) > 0; }

private:
    std::set<std::string> names_;
    ObserverScope scope_{*this};
};

}  // namespace engine
