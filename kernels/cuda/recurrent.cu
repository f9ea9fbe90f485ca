#include "kernels/recurrent.h"

#include <cassert>
#include <cmath>

#include "cuda/convert.cuh"
#include "cuda/device_math.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

template <typename W>
__device__ __forceinline__ W logistic(W x) {
    return W{1} / (W{1} + std::exp(-x));
}
template <typename W>
__device__ __forceinline__ W logistic_slope(W y) {
    return y * (W{1} - y);
}
template <typename W>
__device__ __forceinline__ W tanh_slope(W y) {
    return W{1} - y * y;
}

template <typename T>
__device__ __forceinline__ Compute<T> value_or_zero(const T* x, std::int64_t i) {
    return x == nullptr ? Compute<T>{0} : widen(x[i]);
}

/// Pre-activations of one row at one column; gate k.
template <typename T>
struct Gates {
    const T* gx;
    const T* gh;
    std::int64_t hidden;
    __device__ Compute<T> input(int k) const { return widen(gx[k * hidden]); }
    __device__ Compute<T> hidden_side(int k) const { return widen(gh[k * hidden]); }
    __device__ Compute<T> both(int k) const { return input(k) + hidden_side(k); }
};

template <typename T>
struct StepArrays {
    T* h_new;
    T* c_new;
    const T* gx;
    const T* gh;
    const T* state;
};

template <RecurrentCell cell, typename T>
__global__ void recurrent_forward_kernel(StepArrays<T> s, std::int64_t rows, std::int64_t hidden) {
    using W = Compute<T>;
    for (std::int64_t i = grid_thread(); i < rows * hidden; i += grid_threads()) {
        const std::int64_t at = i / hidden * gates_of(cell) * hidden + i % hidden;
        const Gates<T> g{s.gx + at, s.gh + at, hidden};
        if constexpr (cell == RecurrentCell::rnn_tanh) {
            s.h_new[i] = narrow<T>(std::tanh(g.both(0)));
        } else if constexpr (cell == RecurrentCell::rnn_relu) {
            const W sum = g.both(0);
            s.h_new[i] = narrow<T>(sum <= 0 ? W{0} : sum);
        } else if constexpr (cell == RecurrentCell::lstm) {
            const W in = logistic(g.both(0)), forget = logistic(g.both(1));
            const W fresh = std::tanh(g.both(2)), out = logistic(g.both(3));
            const W c = multiply_add(forget, widen(s.state[i]), in * fresh);
            s.c_new[i] = narrow<T>(c);
            s.h_new[i] = narrow<T>(out * std::tanh(c));
        } else {
            const W reset = logistic(g.both(0)), update = logistic(g.both(1));
            const W fresh = std::tanh(multiply_add(reset, g.hidden_side(2), g.input(2)));
            s.h_new[i] = narrow<T>(multiply_add(update, widen(s.state[i]) - fresh, fresh));
        }
    }
}

template <typename T>
struct GradientArrays {
    T* dgx;
    T* dgh;
    T* dstate;
    const T* dh;
    const T* dh_more;
    const T* dc;
    const T* gx;
    const T* gh;
    const T* state;
};

template <RecurrentCell cell, typename T>
__global__ void recurrent_backward_kernel(GradientArrays<T> s, std::int64_t rows,
                                          std::int64_t hidden) {
    using W = Compute<T>;
    for (std::int64_t i = grid_thread(); i < rows * hidden; i += grid_threads()) {
        const std::int64_t at = i / hidden * gates_of(cell) * hidden + i % hidden;
        const Gates<T> g{s.gx + at, s.gh + at, hidden};
        const W dh = value_or_zero(s.dh, i) + value_or_zero(s.dh_more, i);
        if constexpr (cell == RecurrentCell::rnn_tanh) {
            s.dgx[at] = narrow<T>(dh * tanh_slope(std::tanh(g.both(0))));
        } else if constexpr (cell == RecurrentCell::rnn_relu) {
            s.dgx[at] = narrow<T>(g.both(0) <= 0 ? W{0} : dh);
        } else if constexpr (cell == RecurrentCell::lstm) {
            const W in = logistic(g.both(0)), forget = logistic(g.both(1));
            const W fresh = std::tanh(g.both(2)), out = logistic(g.both(3));
            const W c = widen(s.state[i]);
            const W bent = std::tanh(multiply_add(forget, c, in * fresh));
            const W dc = multiply_add(dh * out, tanh_slope(bent), value_or_zero(s.dc, i));
            s.dgx[at] = narrow<T>(dc * fresh * logistic_slope(in));
            s.dgx[at + hidden] = narrow<T>(dc * c * logistic_slope(forget));
            s.dgx[at + 2 * hidden] = narrow<T>(dc * in * tanh_slope(fresh));
            s.dgx[at + 3 * hidden] = narrow<T>(dh * bent * logistic_slope(out));
            s.dstate[i] = narrow<T>(dc * forget);
        } else {
            const W reset = logistic(g.both(0)), update = logistic(g.both(1));
            const W side = g.hidden_side(2);
            const W fresh = std::tanh(multiply_add(reset, side, g.input(2)));
            const W d_fresh = dh * (W{1} - update) * tanh_slope(fresh);
            const T d_reset = narrow<T>(d_fresh * side * logistic_slope(reset));
            const T d_update = narrow<T>(dh * (widen(s.state[i]) - fresh) * logistic_slope(update));
            s.dgx[at] = s.dgh[at] = d_reset;
            s.dgx[at + hidden] = s.dgh[at + hidden] = d_update;
            s.dgx[at + 2 * hidden] = narrow<T>(d_fresh);
            s.dgh[at + 2 * hidden] = narrow<T>(d_fresh * reset);
            s.dstate[i] = narrow<T>(dh * update);
        }
    }
}

/// f(constant of the cell).
template <typename F>
void with_cell(RecurrentCell cell, const F& f) {
    switch (cell) {
        case RecurrentCell::rnn_tanh:
            return f(std::integral_constant<RecurrentCell, RecurrentCell::rnn_tanh>{});
        case RecurrentCell::rnn_relu:
            return f(std::integral_constant<RecurrentCell, RecurrentCell::rnn_relu>{});
        case RecurrentCell::lstm:
            return f(std::integral_constant<RecurrentCell, RecurrentCell::lstm>{});
        case RecurrentCell::gru:
            return f(std::integral_constant<RecurrentCell, RecurrentCell::gru>{});
    }
}

}  // namespace

void recurrent_forward(Array h_new, Array c_new, ConstArray gx, ConstArray gh, ConstArray state,
                       const RecurrentShape& shape, Stream stream) {
    assert(gx.size == shape.rows * shape.hidden * gates_of(shape.cell) && gh.size == gx.size);
    if (gx.size == 0) return;
    with_floating(gx.dtype, [&](auto type) {
        using T = decltype(type);
        const StepArrays<T> arrays{static_cast<T*>(h_new.data), static_cast<T*>(c_new.data),
                                   static_cast<const T*>(gx.data), static_cast<const T*>(gh.data),
                                   static_cast<const T*>(state.data)};
        with_cell(shape.cell, [&](auto cell) {
            launch("recurrent_forward", recurrent_forward_kernel<cell(), T>,
                   grid_for(shape.rows * shape.hidden), stream, arrays, shape.rows, shape.hidden);
        });
    });
}

void recurrent_backward(Array dgx, Array dgh, Array dstate, ConstArray dh, ConstArray dh_more,
                        ConstArray dc, ConstArray gx, ConstArray gh, ConstArray state,
                        const RecurrentShape& shape, Stream stream) {
    assert(gx.size == shape.rows * shape.hidden * gates_of(shape.cell) && dgx.size == gx.size);
    if (gx.size == 0) return;
    with_floating(gx.dtype, [&](auto type) {
        using T = decltype(type);
        const auto in = [](ConstArray x) { return static_cast<const T*>(x.data); };
        const GradientArrays<T> arrays{static_cast<T*>(dgx.data),
                                       static_cast<T*>(dgh.data),
                                       static_cast<T*>(dstate.data),
                                       in(dh),
                                       in(dh_more),
                                       in(dc),
                                       in(gx),
                                       in(gh),
                                       in(state)};
        with_cell(shape.cell, [&](auto cell) {
            launch("recurrent_backward", recurrent_backward_kernel<cell(), T>,
                   grid_for(shape.rows * shape.hidden), stream, arrays, shape.rows, shape.hidden);
        });
    });
}

}  // namespace kernels::cuda
