#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/recurrent.h"

namespace kernels {

/// All layers and directions of a recurrent network over sequences of equal length, in the formulas
/// of kernels/recurrent.h: the description for a library.
struct RecurrentNetwork {
    RecurrentCell cell = RecurrentCell::lstm;
    DType dtype = DType::f32;  ///< of all tensors; sums and gates in f32 (f64 for f64)
    std::int64_t steps = 0, batch = 0, input = 0, hidden = 0, layers = 1;
    bool bidirectional = false;
    bool biases = true;     ///< two vectors for each layer and direction
    bool tf32 = false;      ///< f32 products may take their operands as TF32
    bool training = true;   ///< keeps what the backward pass reads
    bool measured = false;  ///< by the library's fastest way on this device (PlanChoice)

    std::int64_t directions() const { return bidirectional ? 2 : 1; }
    bool operator==(const RecurrentNetwork&) const = default;
};

/// Memory that the caller provides, in bytes: for all weights in the library's own order, and for
/// what the forward pass keeps for the backward pass (0 unless `training`).
struct RecurrentSpaces {
    std::size_t weights = 0, reserve = 0;
    /// Where the library keeps each parameter in the weights' space, in bytes: whole, and from a
    /// multiple of 16 on. Empty if it keeps one otherwise.
    std::vector<std::size_t> places{};
};

/// Dense device memory. x (steps, batch, input); h0, c0, h_n, c_n (layers * directions, batch,
/// hidden), the c's null unless lstm; y (steps, batch, hidden * directions). params: w_ih (gates *
/// hidden, columns), w_hh (gates * hidden, hidden) and, with biases, b_ih, b_hh (gates * hidden) of
/// each layer and direction, gates in PyTorch's order. All but the parameters begin at multiples of
/// 16 bytes. `weights` is written, the parameters' copy in the library's order; without `params` it
/// is read, and holds them already.
struct RecurrentForwardPass {
    const void *x = nullptr, *h0 = nullptr, *c0 = nullptr;
    std::span<const void* const> params;
    void *y = nullptr, *h_n = nullptr, *c_n = nullptr;
    void *weights = nullptr, *reserve = nullptr;  ///< the reserve is written
};

/// y, weights and reserve as the forward pass left them. The backward pass overwrites the reserve,
/// so a second one needs another forward pass first. dh_n and dc_n may be null: 0. d_params may be
/// empty: the parameters' gradients are in d_weights, in the library's order.
struct RecurrentBackwardPass {
    const void *x = nullptr, *h0 = nullptr, *c0 = nullptr, *y = nullptr;
    const void *dy = nullptr, *dh_n = nullptr, *dc_n = nullptr;
    const void* weights = nullptr;
    void* reserve = nullptr;
    void *dx = nullptr, *dh0 = nullptr, *dc0 = nullptr;
    void* d_weights = nullptr;  ///< as large as the weights' space; written
    std::span<void* const> d_params;
};

namespace cuda {
/// Sizes of the memory. Nothing if the library does not support the network or is too old. Throws
/// DeviceError if there is no library.
std::optional<RecurrentSpaces> recurrent_spaces(const RecurrentNetwork& network);
}  // namespace cuda

/// False: the library failed although it had accepted the network; it will not be called for it
/// again, and the results are not written. Neither waits for the device; both may be captured.
using RecurrentNetworkForward = bool(const RecurrentNetwork& network,
                                     const RecurrentForwardPass& pass, Stream stream);
HALFTONE_CUDA_KERNEL(RecurrentNetworkForward, recurrent_network_forward);
using RecurrentNetworkBackward = bool(const RecurrentNetwork& network,
                                      const RecurrentBackwardPass& pass, Stream stream);
HALFTONE_CUDA_KERNEL(RecurrentNetworkBackward, recurrent_network_backward);

}  // namespace kernels
