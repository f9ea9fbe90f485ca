#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/cudnn_rnn_api.h"
#include "kernels/recurrent_network.h"
#include "simt/library_plans.h"

/// The objects behind the handles of the simulated cuDNN's recurrent networks, and the layout of
/// their weights: the products of each layer and direction from the last side to the first, and all
/// biases after them.
namespace kernels::cuda::rnn {

struct Context {
    void* stream = nullptr;
};
struct TensorOpaque {
    DataType type{};
    std::vector<int> dims, strides;
};
struct DropoutOpaque {
    bool set = false;
};
struct SequenceOpaque {
    DataType type{};
    int steps = 0, batch = 0, columns = 0;
};
struct NetworkOpaque {
    RecurrentNetwork network;
    Algorithm algorithm = Algorithm::standard;
    simt::LibraryPlan counted;
};

inline void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("simulated cuDNN: ") + what);
}

inline DType dtype_of(DataType type) {
    switch (type) {
        case DataType::f64:
            return DType::f64;
        case DataType::f16:
            return DType::f16;
        case DataType::bf16:
            return DType::bf16;
        default:
            return DType::f32;
    }
}
inline std::size_t bytes_of(const RecurrentNetwork& n) { return size_of(n.dtype); }

/// The offset of each weight, and the bytes of all.
struct Places {
    std::vector<std::size_t> matrices, biases;
    std::size_t total = 0;
};
inline std::int64_t columns_of(const RecurrentNetwork& n, std::int64_t layer,
                               std::int64_t product) {
    if (product >= gates_of(n.cell)) return n.hidden;
    return layer < n.directions() ? n.input : n.hidden * n.directions();
}
inline Places places_of(const RecurrentNetwork& n) {
    const std::int64_t layers = n.layers * n.directions(), gates = gates_of(n.cell);
    const std::size_t gap = simt::library_settings().recurrent_scattered ? 48 : 0;
    Places p;
    p.matrices.resize(static_cast<std::size_t>(layers * 2 * gates));
    p.biases.resize(p.matrices.size());
    const auto take = [&](std::int64_t elements) {
        const std::size_t at = p.total + gap;
        p.total = at + static_cast<std::size_t>(elements) * bytes_of(n) + gap;
        return at;
    };
    for (std::int64_t layer = 0; layer < layers; ++layer)
        for (const std::int64_t side : {1, 0})
            for (std::int64_t gate = 0; gate < gates; ++gate) {
                const std::int64_t product = side * gates + gate;
                p.matrices[static_cast<std::size_t>(layer * 2 * gates + product)] =
                    take(n.hidden * columns_of(n, layer, product));
            }
    for (auto& place : p.biases) place = n.biases ? take(n.hidden) : 0;
    return p;
}

}  // namespace kernels::cuda::rnn
