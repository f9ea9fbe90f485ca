#pragma once

#include <vector>

#include "kernels/multi_tensor_update.h"
#include "kernels/sparse_rows.h"
#include "tensor/parameter.h"
#include "tensor/tensor.h"

namespace engine {

/// The rows of one step that sparse gradients (ops/index/sparse.h) name. They are updated in
/// copies, which are fetched before the update and written back after it, so the host need not know
/// the indices.
class RowUpdates {
public:
    /// Tensors that are updated with a parameter, whole; undefined: it has none.
    struct Values {
        Tensor stored, state1, state2, state3, low;
    };

    /// Forgets the rows of the step before.
    void clear();
    /// Coalesces the gradient of `parameter`, number `number` of its optimizer, and returns the
    /// places of its rows' gradient and copies; without a gradient if it names no row. Throws
    /// Error(value) for a parameter that is not row-major.
    kernels::UpdateTensor add(int number, const Parameter& parameter, const Values& values);
    /// Whether rows of the parameter are updated in this step.
    bool hold(int number) const;

    void fetch(const Device& device) const;
    /// Ends the step: a recorded one must hold none of its memory.
    void put_back(const Device& device);

private:
    struct Rows {
        int parameter;
        Tensor numbers;  // (n) i64, -1 for none
        TensorList copies;
    };
    std::vector<Rows> rows_;
    std::vector<kernels::MovedRows> moved_;  // of all rows
};

}  // namespace engine
