#pragma once

#include <string>

#include "tensor/tape.h"

namespace engine {

/// Counts the casts of a tensor, or of a view of it, to a 16-bit type while the counter lives.
class CastCounter final : public OpObserver {
public:
    explicit CastCounter(const Tensor& source) : storage_(source.impl()->storage), scope_(*this) {}
    void on_op(const OpEvent& event) override {
        if (std::string(event.info->name) == "to" && is_low(event.outputs[0].dtype()) &&
            event.inputs[0].impl()->storage == storage_)
            ++count_;
    }
    int count() const { return count_; }

private:
    std::shared_ptr<Storage> storage_;
    ObserverScope scope_;
    int count_ = 0;
};

}  // namespace engine
