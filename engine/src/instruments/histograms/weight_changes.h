#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace engine {

/// The changes that an update makes to some weights. All are copied and subtracted together, in one
/// piece of memory: with the weights of a small model, calls take longer than arithmetic.
class WeightChanges {
public:
    /// A weight for copy().
    void add(const Tensor& weight);
    /// Copies all weights as they are now, in f32 (f64 of f64). Does not wait.
    void copy();
    /// Replaces each copy by the weight as it is now minus the copy. Does not wait.
    void subtract();
    /// The copy of weight i, in the order of add(): after subtract(), its change.
    kernels::ConstArray change(std::size_t i) const;
    /// A tensor that shares the copy of weight i and has the weight's shape.
    Tensor change_tensor(std::size_t i) const;
    /// The number of weights.
    std::size_t size() const { return weights_.size(); }
    /// Releases the weights and their copies.
    void clear();

private:
    struct Weight {
        Tensor tensor;
        DType type;           // of the copy
        std::int64_t offset;  // elements, in the copies of its type
    };
    struct Copies {
        std::int64_t size = 0;  // elements, with the gaps that align each copy
        Tensor memory;
    };

    Copies& copies(DType type) { return type == DType::f64 ? f64_ : f32_; }
    const Copies& copies(DType type) const { return type == DType::f64 ? f64_ : f32_; }
    void combine(bool with_copies);

    std::vector<Weight> weights_;
    Copies f32_, f64_;
    Tensor ignored_;  // whether a value is not finite
};

}  // namespace engine
