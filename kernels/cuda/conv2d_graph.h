#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv2d.h"

/// Description of a convolution for the library, in plain numbers: built here, executed by cuDNN
/// (cudnn_plans.cpp) or, in tests, by loops.
namespace kernels::cuda {

enum class ConvOperation { forward, data_gradient, weight_gradient };

/// Extents and distances in elements, in cuDNN's order: images N, C, H, W; weights K, C / groups,
/// R, S; bias 1, K, 1, 1.
struct ConvTensor {
    DType dtype = DType::f32;
    std::array<std::int64_t, 4> dims{}, strides{};
    bool operator==(const ConvTensor&) const = default;
};

struct ConvGraph {
    ConvOperation operation = ConvOperation::forward;
    ConvTensor x, w, y;
    std::optional<ConvTensor>
        bias;  ///< forward only: added in the compute type, before the rounding
    std::array<std::int64_t, 2> padding{}, stride{}, dilation{};
    bool tf32 = false;       ///< f32 operands may be taken as TF32
    bool bit_stable = true;  ///< by an engine that gives the same bits in every run
    int device = 0;
    std::string engine{};  ///< by the library's name for it; empty: its first choice

    bool operator==(const ConvGraph&) const = default;
};

struct ConvGraphHash {
    std::size_t operator()(const ConvGraph& graph) const noexcept;
};

/// A text that is the same in every run: all but the device and the engine.
std::string text(const ConvGraph& graph);

/// Graph of a convolution whose tensors are all of one dtype: images NHWC, weights (K, R, S, C /
/// groups) in memory.
ConvGraph describe(ConvOperation operation, const Conv2dShape& shape, DType dtype, bool bias,
                   bool tf32);

struct ConvPointers {
    const void *x, *w, *y, *bias;  ///< the operation writes one of x, w, y
};

/// Scratch that the library needs. Nothing if it does not support the description; if it does in
/// general but fails, `why` has its message (PlanCache). Makes its plan. Throws DeviceError if the
/// library is missing, OutOfMemory.
std::optional<std::size_t> convolution_workspace(const ConvGraph& graph, std::string* why);
/// Scratch after `bytes` of it could not be allocated: from now on an engine that needs less runs
/// the graph. Nothing if there is none.
std::optional<std::size_t> convolution_workspace_below(const ConvGraph& graph, std::size_t bytes);
/// The engines that could run the graph, whichever it names, the library's first choice first: each
/// is ready, and within the limit of scratch. Ends early where that takes too long. Empty if there
/// is none.
std::vector<std::string> convolution_engines(const ConvGraph& graph);
/// Gives up the plan of a graph, whose work is done.
void forget_convolution(const ConvGraph& graph);
/// The name of the engine that runs it; convolution_workspace has said yes.
std::string convolution_engine(const ConvGraph& graph);
/// Puts it on the stream; convolution_workspace has said yes.
void convolve(const ConvGraph& graph, const ConvPointers& pointers, void* workspace, Stream stream);

}  // namespace kernels::cuda
