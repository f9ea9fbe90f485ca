#include "ops/recurrent/recurrent_layer.h"

#include <algorithm>

#include "kernels/gemm.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using detail::matrix_rows;
using detail::multiply_into;
using kernels::RecurrentCell;

constexpr Op layer_op("recurrent_layer(gx, h0, w_hh, c0?, b_hh?)",
                      "Runs inside a listed op, which has cast its arguments.");

/// A state as it passes through the steps. If all steps have equally many rows, it is the results
/// of the last step. Otherwise it is a matrix of its own, in which a row stays when its sequence
/// ends.
class State {
public:
    State(const Tensor& first, bool even)
        : even_(even), now_(first.defined() && !even ? row_major_copy(first) : row_major(first)) {}

    Tensor rows(std::int64_t count) const {
        return now_.defined() ? matrix_rows(now_, 0, count) : now_;
    }
    void take(const Tensor& results) {
        if (even_)
            now_ = results;
        else
            copy_into(rows(results.size(0)), results);
    }
    Tensor last() const { return even_ ? row_major_copy(now_) : now_; }

private:
    bool even_;
    Tensor now_;
};

/// {outputs, h_n, c_n} and the cell states of all steps, outside the tape.
struct Computed {
    TensorList results;
    Tensor cells;
};
Computed compute(const RecurrentLayer& layer, const RecurrentInputs& in) {
    const bool lstm = layer.cell == RecurrentCell::lstm;
    const bool even = layer.batch_sizes.front() == layer.batch_sizes.back();
    const std::int64_t hidden = in.h0.size(1);
    const DType dtype = in.gx.dtype();
    const Tensor gx = row_major(in.gx), w_hh = row_major(in.w_hh), b_hh = row_major(in.b_hh);
    const Shape all{gx.size(0), hidden};
    const Tensor outputs = Tensor::empty(all, dtype, gx.device());
    const Tensor cells = lstm ? Tensor::empty(all, dtype, gx.device()) : Tensor();
    const Tensor gh = Tensor::empty({layer.batch_sizes.front(), gx.size(1)}, dtype, gx.device());
    State h(in.h0, even), c(in.c0, even);
    for (const auto& step : detail::recurrent_steps(layer)) {
        const Tensor products = matrix_rows(gh, 0, step.rows);
        multiply_into(products, h.rows(step.rows), w_hh, true, b_hh, 0);
        const Tensor h_new = matrix_rows(outputs, step.start, step.rows);
        const Tensor c_new = lstm ? matrix_rows(cells, step.start, step.rows) : Tensor();
        on(gx.device(), kernels::cpu::recurrent_forward, kernels::cuda::recurrent_forward)(
            h_new.array(), lstm ? c_new.array() : kernels::Array{nullptr, dtype, 0},
            matrix_rows(gx, step.start, step.rows).array(), products.array(),
            array_or_null(lstm ? c.rows(step.rows) : h.rows(step.rows), dtype),
            {layer.cell, step.rows, hidden}, current_stream());
        h.take(h_new);
        if (lstm) c.take(c_new);
    }
    TensorList results{outputs, h.last()};
    if (lstm) results.push_back(c.last());
    return {results, cells};
}

}  // namespace

namespace detail {

std::vector<RecurrentStep> recurrent_steps(const RecurrentLayer& layer) {
    std::vector<RecurrentStep> steps;
    std::int64_t start = 0;
    for (const std::int64_t rows : layer.batch_sizes) {
        steps.push_back({start, rows});
        start += rows;
    }
    if (layer.reverse) std::reverse(steps.begin(), steps.end());
    return steps;
}

Tensor matrix_rows(const Tensor& x, std::int64_t start, std::int64_t count) {
    const std::int64_t cols = x.size(1);
    return view_of(x, {count, cols}, {cols, 1}, x.impl()->offset + start * cols);
}

void multiply_into(const Tensor& c, const Tensor& a, const Tensor& b, bool transposed_b,
                   const Tensor& bias, double beta) {
    if (c.numel() == 0) return;
    const kernels::ConstMatrix left{a.data(), a.dtype(), a.size(0), a.size(1), a.size(1)};
    const kernels::ConstMatrix right{b.data(),  b.dtype(), transposed_b ? b.size(1) : b.size(0),
                                     c.size(1), b.size(1), transposed_b};
    on(c.device(), kernels::cpu::gemm, kernels::cuda::gemm)(
        {c.data(), c.dtype(), c.size(0), c.size(1), c.size(1)}, left, right,
        {.beta = beta, .bias = bias.defined() ? bias.data() : nullptr}, current_stream());
}

}  // namespace detail

TensorList recurrent_layer(const RecurrentLayer& layer, const RecurrentInputs& in) {
    const Computed made = compute(layer, in);
    const Tensor inputs[] = {in.gx, in.h0, in.w_hh, in.c0, in.b_hh};
    return record_outputs(layer_op, inputs, made.results,
                          {save(in.gx), save(in.h0), save(in.w_hh), save(in.c0), save(in.b_hh),
                           save_output(made.results[0]), save(made.cells)},
                          [layer](std::span<const Tensor> grads, const Saved& saved) {
                              const bool lstm = layer.cell == RecurrentCell::lstm;
                              TensorList found = detail::recurrent_layer_backward(
                                  layer,
                                  {.d_outputs = grads[0],
                                   .dh_n = grads[1],
                                   .dc_n = lstm ? grads[2] : Tensor(),
                                   .inputs = {saved[0], saved[1], saved[3], saved[2], saved[4]},
                                   .outputs = saved[5].detach(),
                                   .cells = saved[6]});
                              if (!lstm) found.insert(found.begin() + 3, Tensor());
                              found.resize(5);
                              return found;
                          });
}

}  // namespace engine
