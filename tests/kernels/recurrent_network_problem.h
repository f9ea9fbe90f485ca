#pragma once

#include <string>
#include <vector>

#include "kernels/recurrent_network.h"
#include "kernels/support.h"

/// Operands of a recurrent network, with results and bounds by plain loops in f64. Values that a
/// library may keep between its steps (products, gates, states, and their gradients) may be rounded
/// to the type.
namespace kernels::test {

using Bounds = std::vector<Bounded>;

inline std::string to_string(const RecurrentNetwork& n) {
    return "cell " + std::to_string(static_cast<int>(n.cell)) + " dtype " +
           std::to_string(static_cast<int>(n.dtype)) + " (" + std::to_string(n.steps) + ", " +
           std::to_string(n.batch) + ", " + std::to_string(n.input) + ") hidden " +
           std::to_string(n.hidden) + " layers " + std::to_string(n.layers) +
           (n.bidirectional ? " both ways" : "") + (n.biases ? "" : " without biases");
}

/// The operands of a recurrent network.
struct RecurrentNetworkProblem {
    explicit RecurrentNetworkProblem(const RecurrentNetwork& network)
        : n(network),
          x(random_buffer(n.dtype, n.steps * n.batch * n.input, 1)),
          h0(random_buffer(n.dtype, states(), 2)),
          c0(random_buffer(n.dtype, states(), 3)),
          dy(random_buffer(n.dtype, n.steps * n.batch * n.hidden * n.directions(), 4)),
          dh_n(random_buffer(n.dtype, states(), 5)),
          dc_n(random_buffer(n.dtype, states(), 6)) {
        for (std::int64_t at = 0; at < n.layers * n.directions(); ++at) {
            const std::int64_t columns = layer_columns(at / n.directions());
            const std::int64_t rows = gates_of(n.cell) * n.hidden;
            for (const std::int64_t size :
                 {rows * columns, rows * n.hidden, n.biases ? rows : 0, n.biases ? rows : 0})
                if (size > 0)
                    params.push_back(random_buffer(
                        n.dtype, size, static_cast<unsigned>(10 + params.size()), 0, 0.4));
        }
    }

    RecurrentNetwork n;
    Buffer x, h0, c0, dy, dh_n, dc_n;
    std::vector<Buffer> params;

    bool lstm() const { return n.cell == RecurrentCell::lstm; }
    std::int64_t states() const { return n.layers * n.directions() * n.batch * n.hidden; }
    std::int64_t layer_columns(std::int64_t layer) const {
        return layer == 0 ? n.input : n.hidden * n.directions();
    }
};

}  // namespace kernels::test
