#include "cuda/cudnn_rnn_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "cuda/workspace.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"

namespace kernels::cuda::rnn {
namespace {

Cell cell_of(RecurrentCell cell) {
    switch (cell) {
        case RecurrentCell::rnn_relu:
            return Cell::relu;
        case RecurrentCell::rnn_tanh:
            return Cell::tanh;
        case RecurrentCell::gru:
            return Cell::gru;
        default:
            return Cell::lstm;
    }
}

/// False: not supported.
bool allowed(Status status, const char* call) {
    if (is_not_supported(status)) return false;
    check(status, call);
    return true;
}

bool fits(std::initializer_list<std::int64_t> numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) {
        return n > 0 && n <= std::numeric_limits<std::int32_t>::max();
    });
}

std::int32_t narrow(std::int64_t n) { return static_cast<std::int32_t>(n); }

/// All sequences have all steps, so that the packed form is the dense one.
bool describe_sequence(Sequence sequence, DataType type, const RecurrentNetwork& n,
                       std::int64_t columns) {
    const std::vector<int> lengths(static_cast<std::size_t>(n.batch), narrow(n.steps));
    return allowed(table().sequence_set(sequence, type, Layout::packed, narrow(n.steps),
                                        narrow(n.batch), narrow(columns), lengths.data(), nullptr),
                   "cudnnSetRNNDataDescriptor");
}

/// Elements of the tensor that the library describes.
std::int64_t elements_of(Tensor tensor) {
    DataType type{};
    int rank = 0;
    std::array<int, 8> dims{}, strides{};
    check(table().tensor_get(tensor, 8, &type, &rank, dims.data(), strides.data()),
          "cudnnGetTensorNdDescriptor");
    std::int64_t count = 1;
    for (int k = 0; k < rank; ++k) count *= dims[static_cast<std::size_t>(k)];
    return count;
}

/// The pieces in the parameters' order, neighbours joined where they lie together on both sides.
std::vector<WeightPiece> joined(std::vector<WeightPiece> pieces) {
    std::sort(pieces.begin(), pieces.end(), [](const WeightPiece& a, const WeightPiece& b) {
        return std::pair(a.param, a.in_param) < std::pair(b.param, b.in_param);
    });
    std::vector<WeightPiece> out;
    for (const WeightPiece& piece : pieces) {
        WeightPiece* last = out.empty() ? nullptr : &out.back();
        if (last && last->param == piece.param && last->in_space + last->bytes == piece.in_space)
            last->bytes += piece.bytes;
        else
            out.push_back(piece);
    }
    return out;
}

/// Bytes that kernels load at a time.
constexpr std::size_t alignment = 16;

/// RecurrentSpaces::places of `params` parameters, of which each has a piece.
std::vector<std::size_t> places_of(const std::vector<WeightPiece>& pieces, std::size_t params) {
    if (pieces.size() != params) return {};
    std::vector<std::size_t> places;
    for (const WeightPiece& piece : pieces) {
        if (piece.in_space % alignment != 0) return {};
        places.push_back(piece.in_space);
    }
    return places;
}

std::int64_t params_per_layer(const RecurrentNetwork& n) { return n.biases ? 4 : 2; }

/// Where the library keeps the weights of one gate of one product.
class WeightFinder {
public:
    WeightFinder(Handle handle, Network network, const RecurrentNetwork& n, std::size_t bytes)
        : handle_(handle),
          network_(network),
          n_(n),
          bytes_(bytes),
          space_(bytes),
          base_(static_cast<const std::byte*>(space_.data())) {}

    /// Adds its matrix and bias. False: they are not what the parameters are.
    bool add(std::vector<WeightPiece>& pieces, std::int64_t layer, bool of_hidden,
             std::int64_t gate) {
        void *matrix = nullptr, *bias = nullptr;
        const std::int64_t product = of_hidden ? gates_of(n_.cell) + gate : gate;
        check(table().weight_params(handle_, network_, narrow(layer), bytes_, base_,
                                    narrow(product), matrix_.get(), &matrix, bias_.get(), &bias),
              "cudnnGetRNNWeightParams");
        const std::int64_t param = layer * params_per_layer(n_) + of_hidden;
        return put(pieces, param, gate, n_.hidden * columns(layer, of_hidden), matrix_, matrix) &&
               (!n_.biases || put(pieces, param + 2, gate, n_.hidden, bias_, bias));
    }

private:
    std::int64_t columns(std::int64_t layer, bool of_hidden) const {
        if (of_hidden) return n_.hidden;
        return layer < n_.directions() ? n_.input : n_.hidden * n_.directions();
    }
    bool put(std::vector<WeightPiece>& pieces, std::int64_t param, std::int64_t gate,
             std::int64_t elements, const TensorDescriptor& described, const void* address) const {
        if (!address || elements_of(described.get()) != elements) return false;
        const auto bytes = static_cast<std::size_t>(elements) * size_of(n_.dtype);
        const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(address) - base_);
        if (at > bytes_ || bytes > bytes_ - at)
            throw DeviceError("cudnnGetRNNWeightParams: a weight lies outside of its space");
        pieces.push_back(
            {static_cast<std::size_t>(param), static_cast<std::size_t>(gate) * bytes, at, bytes});
        return true;
    }

    Handle handle_;
    Network network_;
    const RecurrentNetwork& n_;
    std::size_t bytes_;
    ScopedWorkspace space_;  // for its address on the device; nothing is read or written there
    const std::byte* base_;
    TensorDescriptor matrix_, bias_;
};

}  // namespace

void check(Status status, const char* call) {
    if (status == success) return;
    const std::string words = std::string(call) + ": " + table().error_text(status);
    if (status == no_host_memory || status == no_device_memory) throw LibraryOutOfMemory(words);
    throw DeviceError(words);
}

Arithmetic arithmetic_of(const RecurrentNetwork& n) {
    switch (n.dtype) {
        case DType::f64:
            return {DataType::f64, DataType::f64, Math::standard};
        case DType::f16:
            return {DataType::f16, DataType::f32, Math::tensor_op};
        case DType::bf16:
            return {DataType::bf16, DataType::f32, Math::tensor_op};
        default:
            return {DataType::f32, DataType::f32, n.tf32 ? Math::standard : Math::fma};
    }
}

const char* name_of(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::persist_static:
            return "persist-static";
        case Algorithm::persist_static_small_h:
            return "persist-static-small-h";
        default:
            return "standard";
    }
}

Plan::Plan(Handle handle, const RecurrentNetwork& n, Algorithm algorithm)
    : algorithm_(algorithm),
      mode_(n.training ? Mode::training : Mode::inference),
      lstm_(n.cell == RecurrentCell::lstm) {
    if (!fits({n.steps, n.batch, n.input, n.hidden, n.layers * n.directions(),
               n.hidden * n.directions(), n.batch * n.hidden}))
        return;
    found_ = describe(handle, n, algorithm) && measure(handle) && find_weights(handle, n);
}

bool Plan::describe(Handle handle, const RecurrentNetwork& n, Algorithm algorithm) {
    const Arithmetic a = arithmetic_of(n);
    check(table().dropout_set(no_dropout_.get(), handle, 0, nullptr, 0, 0),
          "cudnnSetDropoutDescriptor");
    const Status status = table().network_set(
        network_.get(), algorithm, cell_of(n.cell), n.biases ? Bias::two : Bias::none,
        n.bidirectional ? Direction::both : Direction::one, Input::linear, a.data, a.precision,
        a.math, narrow(n.input), narrow(n.hidden), narrow(n.hidden), narrow(n.layers),
        no_dropout_.get(), padding_off);
    if (!allowed(status, "cudnnSetRNNDescriptor_v8")) return false;
    const int dims[] = {narrow(n.layers * n.directions()), narrow(n.batch), narrow(n.hidden)};
    const int strides[] = {narrow(n.batch * n.hidden), narrow(n.hidden), 1};
    check(table().tensor_set(state_.get(), a.data, 3, dims, strides), "cudnnSetTensorNdDescriptor");
    return describe_sequence(x_.get(), a.data, n, n.input) &&
           describe_sequence(y_.get(), a.data, n, n.hidden * n.directions());
}

bool Plan::measure(Handle handle) {
    return allowed(table().weight_bytes(handle, network_.get(), &spaces_.weights),
                   "cudnnGetRNNWeightSpaceSize") &&
           allowed(table().space_bytes(handle, network_.get(), mode_, x_.get(), &workspace_bytes_,
                                       &spaces_.reserve),
                   "cudnnGetRNNTempSpaceSizes");
}

/// Products are numbered input's first, gates in PyTorch's order: i, f, g, o and r, z, n.
bool Plan::find_weights(Handle handle, const RecurrentNetwork& n) {
    WeightFinder finder(handle, network_.get(), n, spaces_.weights);
    std::vector<WeightPiece> found;
    for (std::int64_t layer = 0; layer < n.layers * n.directions(); ++layer)
        for (const bool of_hidden : {false, true})
            for (std::int64_t gate = 0; gate < gates_of(n.cell); ++gate)
                if (!finder.add(found, layer, of_hidden, gate)) return false;
    for (const WeightPiece& piece : found) covered_ += piece.bytes;
    pieces_ = joined(std::move(found));
    const std::int64_t params = n.layers * n.directions() * params_per_layer(n);
    spaces_.places = places_of(pieces_, static_cast<std::size_t>(params));
    return true;
}

// Since its version 8.9.1 the library takes the lengths from the descriptors by itself, and their
// place in device memory stays null.

Status Plan::forward(Handle handle, const RecurrentForwardPass& p, void* workspace) const {
    return table().forward(handle, network_.get(), mode_, nullptr, x_.get(), p.x, y_.get(), p.y,
                           state_.get(), p.h0, p.h_n, cell_state(), p.c0, p.c_n, spaces_.weights,
                           p.weights, workspace_bytes_, workspace, spaces_.reserve, p.reserve);
}

Status Plan::backward_data(Handle handle, const RecurrentBackwardPass& p, void* workspace) const {
    return table().backward_data(handle, network_.get(), nullptr, y_.get(), p.y, p.dy, x_.get(),
                                 p.dx, state_.get(), p.h0, p.dh_n, p.dh0, cell_state(), p.c0,
                                 p.dc_n, p.dc0, spaces_.weights, p.weights, workspace_bytes_,
                                 workspace, spaces_.reserve, p.reserve);
}

Status Plan::backward_weights(Handle handle, const RecurrentBackwardPass& p,
                              void* workspace) const {
    return table().backward_weights(handle, network_.get(), WeightGradient::add, nullptr, x_.get(),
                                    p.x, state_.get(), p.h0, y_.get(), p.y, spaces_.weights,
                                    p.d_weights, workspace_bytes_, workspace, spaces_.reserve,
                                    p.reserve);
}

}  // namespace kernels::cuda::rnn
