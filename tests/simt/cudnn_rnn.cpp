#include <algorithm>
#include <cstdint>
#include <vector>

#include "simt/cudnn_rnn_opaque.h"
#include "simt/queue.h"
#include "simt/recurrent_executor.h"

// The simulated device's cuDNN for recurrent networks. Throws where NVIDIA's would fail or silently
// compute something wrong.
namespace kernels::cuda::rnn {

namespace {

Status create(Handle* handle) { return *handle = new Context, success; }
Status set_stream(Handle handle, void* stream) { return handle->stream = stream, success; }
const char* error_text(Status status) {
    return is_not_supported(status) ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_?";
}

template <typename T>
Status make(T** descriptor) {
    return *descriptor = new T, success;
}
template <typename T>
Status unmake(T* descriptor) {
    return delete descriptor, success;
}

Status tensor_set(Tensor tensor, DataType type, int rank, const int* dims, const int* strides) {
    tensor->type = type;
    tensor->dims.assign(dims, dims + rank);
    tensor->strides.assign(strides, strides + rank);
    return success;
}
Status tensor_get(Tensor tensor, int wanted, DataType* type, int* rank, int* dims, int* strides) {
    *type = tensor->type;
    *rank = static_cast<int>(tensor->dims.size());
    require(*rank <= wanted, "a tensor of more dimensions than were asked for");
    std::copy(tensor->dims.begin(), tensor->dims.end(), dims);
    std::copy(tensor->strides.begin(), tensor->strides.end(), strides);
    return success;
}

Status dropout_set(Dropout dropout, Handle handle, float p, void* states, std::size_t bytes,
                   unsigned long long) {
    require(handle && p == 0 && !states && bytes == 0, "masks of the library's own");
    return dropout->set = true, success;
}

Status sequence_set(Sequence sequence, DataType type, Layout layout, int steps, int batch,
                    int columns, const int* lengths, void* padding) {
    require(layout == Layout::packed && !padding && steps > 0 && batch > 0 && columns > 0,
            "a sequence's description");
    require(std::all_of(lengths, lengths + batch, [&](int n) { return n == steps; }),
            "sequences of several lengths");
    *sequence = {type, steps, batch, columns};
    return success;
}

/// Algorithms whose times the settings give.
bool is_offered(Algorithm algorithm) {
    const int number = static_cast<int>(algorithm);
    return number < static_cast<int>(simt::algorithms_offered(true).size()) && !simt::fails(number);
}

Status network_set(Network network, Algorithm algorithm, Cell cell, Bias bias, Direction direction,
                   Input, DataType type, DataType precision, Math math, std::int32_t input,
                   std::int32_t hidden, std::int32_t projection, std::int32_t layers,
                   Dropout dropout, std::uint32_t flags) {
    require(dropout->set && flags == padding_off && projection == hidden, "a network's options");
    const bool wide = type == DataType::f64;
    require(precision == (wide ? DataType::f64 : DataType::f32), "sums in 16 bits");
    require(math != Math::tensor_op || type == DataType::f16 || type == DataType::bf16,
            "a mode of arithmetic");
    if (!simt::library_settings().recurrent || !is_offered(algorithm)) return not_supported + 7;
    network->algorithm = algorithm;
    if (!simt::plan_problem().empty()) return no_device_memory;
    constexpr RecurrentCell cells[] = {RecurrentCell::rnn_relu, RecurrentCell::rnn_tanh,
                                       RecurrentCell::lstm, RecurrentCell::gru};
    RecurrentNetwork& n = network->network;
    n.cell = cells[static_cast<int>(cell)];
    n.dtype = dtype_of(type);
    n.input = input;
    n.hidden = hidden;
    n.layers = layers;
    n.bidirectional = direction == Direction::both;
    n.biases = bias == Bias::two;
    return success;
}

Status weight_bytes(Handle, Network network, std::size_t* bytes) {
    return *bytes = places_of(network->network).total, success;
}

void describe(Tensor tensor, const RecurrentNetwork& n, std::int64_t rows, std::int64_t cols) {
    const int dims[] = {1, static_cast<int>(rows), static_cast<int>(cols)};
    const int strides[] = {dims[1] * dims[2], dims[2], 1};
    tensor_set(tensor, n.dtype == DType::f64 ? DataType::f64 : DataType::f32, 3, dims, strides);
}
Status weight_params(Handle, Network network, std::int32_t layer, std::size_t bytes,
                     const void* weights, std::int32_t product, Tensor matrix,
                     void** matrix_address, Tensor bias, void** bias_address) {
    const RecurrentNetwork& n = network->network;
    const Places places = places_of(n);
    require(bytes == places.total && weights, "the weights' space");
    const auto at = static_cast<std::size_t>(layer * 2 * gates_of(n.cell) + product);
    auto* const base = const_cast<std::byte*>(static_cast<const std::byte*>(weights));
    describe(matrix, n, n.hidden, columns_of(n, layer, product));
    *matrix_address = base + places.matrices.at(at);
    if (n.biases) describe(bias, n, n.hidden, 1);
    *bias_address = n.biases ? base + places.biases.at(at) : nullptr;
    return success;
}

/// Large enough that a caller that provides no scratch is detected.
constexpr std::size_t scratch_bytes = 1000;

RecurrentNetwork sized(Network network, Sequence x) {
    RecurrentNetwork n = network->network;
    n.steps = x->steps;
    n.batch = x->batch;
    require(x->columns == n.input && dtype_of(x->type) == n.dtype, "the input's columns and type");
    return n;
}

Status space_bytes(Handle, Network network, Mode mode, Sequence x, std::size_t* workspace,
                   std::size_t* reserve) {
    *workspace = scratch_bytes;
    *reserve = mode == Mode::training ? simt::recurrent_reserve_bytes(sized(network, x)) : 0;
    return success;
}

void require_state(Tensor tensor, const RecurrentNetwork& n) {
    const std::vector<int> dims{static_cast<int>(n.layers * n.directions()),
                                static_cast<int>(n.batch), static_cast<int>(n.hidden)};
    require(tensor->dims == dims && dtype_of(tensor->type) == n.dtype, "a state's shape");
}
void require_aligned(std::initializer_list<const void*> operands) {
    for (const void* data : operands)
        require(reinterpret_cast<std::uintptr_t>(data) % 16 == 0, "an operand is not aligned");
}

/// The arguments that all three passes share, after their checks.
simt::RecurrentJob job_of(Network network, const std::int32_t* lengths, Sequence x, Sequence y,
                          Tensor h, Tensor c, std::size_t bytes, void* workspace,
                          std::size_t workspace_bytes) {
    const RecurrentNetwork n = sized(network, x);
    require(!lengths, "lengths, which the library takes from the descriptors");
    require(y->columns == n.hidden * n.directions() && y->steps == n.steps, "the output's columns");
    require_state(h, n);
    if (c) require_state(c, n);
    Places places = places_of(n);
    require(bytes == places.total, "the weights' space");
    require(workspace && workspace_bytes == scratch_bytes, "the workspace");
    return {n, simt::library_settings().recurrent_wide, std::move(places.matrices),
            std::move(places.biases)};
}

template <typename F>
Status enqueue(const char* name, Handle handle, void* workspace, const F& work) {
    simt::enqueue(name, {handle->stream}, [workspace, work] {
        std::fill_n(static_cast<unsigned char*>(workspace), scratch_bytes, 0xffu);
        work();
    });
    return success;
}

Status forward(Handle handle, Network network, Mode mode, const std::int32_t* lengths,
               Sequence x_desc, const void* x, Sequence y_desc, void* y, Tensor h_desc,
               const void* h0, void* h_n, Tensor c_desc, const void* c0, void* c_n,
               std::size_t weight_size, const void* weights, std::size_t workspace_bytes,
               void* workspace, std::size_t reserve_bytes, void* reserve) {
    if (!simt::library_settings().recurrent_runs) return not_supported;
    auto job = job_of(network, lengths, x_desc, y_desc, h_desc, c_desc, weight_size, workspace,
                      workspace_bytes);
    const bool lstm = job.network.cell == RecurrentCell::lstm;
    require(lstm == (c_desc && c0 && c_n), "cell states");
    require_aligned({x, y, h0, h_n, c0, c_n, weights, reserve});
    const bool training = mode == Mode::training;
    require(reserve_bytes == (training ? simt::recurrent_reserve_bytes(job.network) : 0) &&
                (!training || reserve),
            "the reserve");
    RecurrentForwardPass pass{.x = x,
                              .h0 = h0,
                              .c0 = c0,
                              .params = {},
                              .y = y,
                              .h_n = h_n,
                              .c_n = c_n,
                              .weights = const_cast<void*>(weights),
                              .reserve = training ? reserve : nullptr};
    const Algorithm algorithm = network->algorithm;
    return enqueue("cudnnRNNForward", handle, workspace, [job, pass, algorithm] {
        simt::run_algorithm(static_cast<int>(algorithm));
        simt::recurrent_forward_job(job, pass);
    });
}

Status backward_data(Handle handle, Network network, const std::int32_t* lengths, Sequence y_desc,
                     const void* y, const void* dy, Sequence x_desc, void* dx, Tensor h_desc,
                     const void* h0, const void* dh_n, void* dh0, Tensor c_desc, const void* c0,
                     const void* dc_n, void* dc0, std::size_t weight_size, const void* weights,
                     std::size_t workspace_bytes, void* workspace, std::size_t reserve_bytes,
                     void* reserve) {
    if (!simt::library_settings().recurrent_backward) return not_supported;
    auto job = job_of(network, lengths, x_desc, y_desc, h_desc, c_desc, weight_size, workspace,
                      workspace_bytes);
    require_aligned({y, dy, dx, h0, dh_n, dh0, c0, dc_n, dc0, weights, reserve});
    require(y && dy && dx && reserve_bytes == simt::recurrent_reserve_bytes(job.network),
            "operands of the backward pass");
    const RecurrentBackwardPass pass{.x = nullptr,
                                     .h0 = h0,
                                     .c0 = c0,
                                     .y = y,
                                     .dy = dy,
                                     .dh_n = dh_n,
                                     .dc_n = dc_n,
                                     .weights = weights,
                                     .reserve = reserve,
                                     .dx = dx,
                                     .dh0 = dh0,
                                     .dc0 = dc0,
                                     .d_weights = nullptr,
                                     .d_params = {}};
    return enqueue("cudnnRNNBackwardData", handle, workspace,
                   [job, pass] { simt::recurrent_backward_data_job(job, pass); });
}

Status backward_weights(Handle handle, Network network, WeightGradient, const std::int32_t* lengths,
                        Sequence x_desc, const void* x, Tensor h_desc, const void* h0,
                        Sequence y_desc, const void* y, std::size_t weight_size, void* d_weights,
                        std::size_t workspace_bytes, void* workspace, std::size_t reserve_bytes,
                        void* reserve) {
    auto job = job_of(network, lengths, x_desc, y_desc, h_desc, nullptr, weight_size, workspace,
                      workspace_bytes);
    require_aligned({x, y, h0, d_weights, reserve});
    require(x && y && reserve_bytes == simt::recurrent_reserve_bytes(job.network),
            "operands of the weights' gradients");
    RecurrentBackwardPass pass;
    pass.x = x;
    pass.h0 = h0;
    pass.y = y;
    pass.reserve = reserve;
    pass.d_weights = d_weights;
    return enqueue("cudnnRNNBackwardWeights", handle, workspace,
                   [job, pass] { simt::recurrent_backward_weights_job(job, pass); });
}

}  // namespace

const Table& table() {
    static const Table only{create,
                            set_stream,
                            error_text,
                            make<TensorOpaque>,
                            unmake<TensorOpaque>,
                            tensor_set,
                            tensor_get,
                            make<DropoutOpaque>,
                            unmake<DropoutOpaque>,
                            dropout_set,
                            make<SequenceOpaque>,
                            unmake<SequenceOpaque>,
                            sequence_set,
                            make<NetworkOpaque>,
                            unmake<NetworkOpaque>,
                            network_set,
                            weight_bytes,
                            weight_params,
                            space_bytes,
                            forward,
                            backward_data,
                            backward_weights};
    return only;
}

}  // namespace kernels::cuda::rnn
