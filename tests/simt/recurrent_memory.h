#pragma once

#include <cstdint>
#include <vector>

#include "simt/elements.h"
#include "simt/recurrent_executor.h"

/// Memory of the simulated library's recurrent networks: weights by their places, the reserve, and
/// products with the weights.
namespace kernels::simt {

using Size = std::size_t;

inline Size size_of_gates(const RecurrentNetwork& n) {
    return static_cast<Size>(n.steps * n.batch * n.hidden * gates_of(n.cell));
}
inline Size size_of_states(const RecurrentNetwork& n) {
    return static_cast<Size>(n.steps * n.batch * n.hidden);
}
inline Size elements_per_direction(const RecurrentNetwork& n) {
    return size_of_gates(n) + 2 * size_of_states(n);
}
inline Size pseudo_layers(const RecurrentNetwork& n) {
    return static_cast<Size>(n.layers * n.directions());
}

/// S: f32, or f64 for f64. Without a reserve it allocates its own memory.
template <typename S>
class RecurrentMemory {
public:
    RecurrentMemory(const RecurrentJob& job, void* reserve)
        : job_(job),
          n_(job.network),
          batch_(static_cast<Size>(n_.batch)),
          steps_(static_cast<Size>(n_.steps)),
          hidden_(static_cast<Size>(n_.hidden)),
          gates_(static_cast<Size>(gates_of(n_.cell))),
          sides_(static_cast<Size>(n_.directions())) {
        own_.resize(reserve ? 0 : elements_per_direction(n_) * pseudo_layers(n_));
        reserve_ = reserve ? static_cast<S*>(reserve) : own_.data();
    }
    RecurrentMemory(const RecurrentMemory&) = delete;
    RecurrentMemory& operator=(const RecurrentMemory&) = delete;

protected:
    /// The width of a layer's input.
    Size columns(Size layer) const {
        return layer == 0 ? static_cast<Size>(n_.input) : hidden_ * sides_;
    }
    Size pseudo(Size layer, Size side) const { return layer * sides_ + side; }
    Size time(Size side, Size step) const { return side == 0 ? step : steps_ - 1 - step; }

    // The reserve of a direction: the gates after their functions, later their gradients; c of
    // lstm, or the hidden side of gru's n, later its gradient; h.
    S* part(Size layer, Size side) const {
        return reserve_ + pseudo(layer, side) * elements_per_direction(n_);
    }
    S& gate(Size layer, Size side, Size row, Size g, Size j) const {
        return part(layer, side)[(row * gates_ + g) * hidden_ + j];
    }
    S& extra(Size layer, Size side, Size row, Size j) const {
        return part(layer, side)[size_of_gates(n_) + row * hidden_ + j];
    }
    S& output(Size layer, Size side, Size row, Size j) const {
        return part(layer, side)[size_of_gates(n_) + size_of_states(n_) + row * hidden_ + j];
    }
    std::vector<S> outputs_of(Size layer) const {
        std::vector<S> out;
        for (Size row = 0; row < steps_ * batch_; ++row)
            for (Size side = 0; side < sides_; ++side)
                for (Size j = 0; j < hidden_; ++j) out.push_back(output(layer, side, row, j));
        return out;
    }

    S keep(S value) const {
        if (job_.wide) return value;
        alignas(double) unsigned char stored[sizeof(double)];
        store(stored, n_.dtype, 0, static_cast<double>(value));
        return static_cast<S>(load(stored, n_.dtype, 0));
    }
    std::vector<S> read(const void* data, Size count, Size from = 0) const {
        std::vector<S> out(count);
        for (Size i = 0; data && i < count; ++i)
            out[i] = static_cast<S>(load(data, n_.dtype, static_cast<std::int64_t>(from + i)));
        return out;
    }
    void write(void* data, Size from, const std::vector<S>& values) const {
        for (Size i = 0; i < values.size(); ++i)
            store(data, n_.dtype, static_cast<std::int64_t>(from + i),
                  static_cast<double>(values[i]));
    }
    Size product(Size layer, Size side, bool of_hidden, Size g) const {
        return pseudo(layer, side) * 2 * gates_ + (of_hidden ? gates_ : 0) + g;
    }
    std::vector<S> matrix(const void* weights, Size at, Size cols) const {
        return read(static_cast<const std::byte*>(weights) + job_.matrices[at], hidden_ * cols);
    }
    std::vector<S> bias(const void* weights, Size at) const {
        if (!n_.biases) return std::vector<S>(hidden_, S(0));
        return read(static_cast<const std::byte*>(weights) + job_.biases[at], hidden_);
    }

    /// All gates for x (rows, cols) with the weights of one side of a direction.
    std::vector<S> products(const void* weights, Size layer, Size side, bool of_hidden,
                            const std::vector<S>& x, Size cols) const {
        const Size rows = x.size() / cols;
        std::vector<S> out(rows * gates_ * hidden_);
        for (Size g = 0; g < gates_; ++g) {
            const Size at = product(layer, side, of_hidden, g);
            const auto w = matrix(weights, at, cols), b = bias(weights, at);
            for (Size row = 0; row < rows; ++row)
                for (Size j = 0; j < hidden_; ++j) {
                    S sum = 0;
                    for (Size k = 0; k < cols; ++k) sum += x[row * cols + k] * w[j * cols + k];
                    out[(row * gates_ + g) * hidden_ + j] = keep(sum + b[j]);
                }
        }
        return out;
    }
    /// out (rows, cols) += d (rows, gates, hidden) times the weights.
    void add_products(std::vector<S>& out, const void* weights, Size layer, Size side,
                      bool of_hidden, const std::vector<S>& d, Size cols) const {
        std::vector<S> sums(out.size(), S(0));
        for (Size g = 0; g < gates_; ++g) {
            const auto w = matrix(weights, product(layer, side, of_hidden, g), cols);
            for (Size row = 0; row < out.size() / cols; ++row)
                for (Size j = 0; j < hidden_; ++j)
                    for (Size k = 0; k < cols; ++k)
                        sums[row * cols + k] +=
                            d[(row * gates_ + g) * hidden_ + j] * w[j * cols + k];
        }
        for (Size i = 0; i < out.size(); ++i) out[i] = keep(out[i] + keep(sums[i]));
    }

    const RecurrentJob& job_;
    const RecurrentNetwork& n_;
    Size batch_, steps_, hidden_, gates_, sides_;

private:
    std::vector<S> own_;
    S* reserve_;
};

}  // namespace kernels::simt
