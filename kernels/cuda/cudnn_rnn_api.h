#pragma once

#include <cstddef>
#include <cstdint>

/// The functions of cuDNN 9 for recurrent networks that are used here, which its graphs do not
/// have: opaque handles, numbers and a table of functions, so that what calls it compiles and is
/// tested without CUDA. library_checks.cpp holds it against NVIDIA's own header.
namespace kernels::cuda::rnn {

using Status = int;
constexpr Status success = 0;
/// A category of statuses.
constexpr Status not_supported = 3000;
constexpr Status no_host_memory = 4003, no_device_memory = 4004;
constexpr bool is_not_supported(Status status) { return status / 1000 == not_supported / 1000; }

enum class DataType : int { f32 = 0, f64 = 1, f16 = 2, bf16 = 9 };
/// persist_...: a layer's recurrent weights stay in the multiprocessors' registers, and one kernel
/// computes all of its steps. The library supports some networks so.
enum class Algorithm : int { standard = 0, persist_static = 1, persist_static_small_h = 3 };
enum class Cell : int { relu = 0, tanh = 1, lstm = 2, gru = 3 };
enum class Bias : int { none = 0, two = 2 };
enum class Direction : int { one = 0, both = 1 };
enum class Input : int { linear = 0 };
/// standard: TF32 for f32 operands where the device has it. tensor_op: Tensor Cores, operands as
/// they are. fma: f32 as it is.
enum class Math : int { standard = 0, tensor_op = 1, fma = 3 };
enum class Layout : int { packed = 1 };  ///< the rows of each time step one after the other
enum class Mode : int { inference = 0, training = 1 };
enum class WeightGradient : int { add = 0 };
constexpr std::uint32_t padding_off = 0;

struct Context;
struct NetworkOpaque;
struct SequenceOpaque;
struct TensorOpaque;
struct DropoutOpaque;
using Handle = Context*;
using Network = NetworkOpaque*;
using Sequence = SequenceOpaque*;
using Tensor = TensorOpaque*;
using Dropout = DropoutOpaque*;

struct Table {
    Status (*create)(Handle*);
    Status (*set_stream)(Handle, void* stream);
    const char* (*error_text)(Status);

    Status (*tensor_create)(Tensor*);
    Status (*tensor_destroy)(Tensor);
    Status (*tensor_set)(Tensor, DataType, int rank, const int* dims, const int* strides);
    Status (*tensor_get)(Tensor, int wanted, DataType*, int* rank, int* dims, int* strides);
    Status (*dropout_create)(Dropout*);
    Status (*dropout_destroy)(Dropout);
    Status (*dropout_set)(Dropout, Handle, float p, void* states, std::size_t bytes,
                          unsigned long long seed);
    Status (*sequence_create)(Sequence*);
    Status (*sequence_destroy)(Sequence);
    Status (*sequence_set)(Sequence, DataType, Layout, int steps, int batch, int columns,
                           const int* lengths, void* padding);
    Status (*network_create)(Network*);
    Status (*network_destroy)(Network);
    Status (*network_set)(Network, Algorithm, Cell, Bias, Direction, Input, DataType,
                          DataType math_precision, Math, std::int32_t input, std::int32_t hidden,
                          std::int32_t projection, std::int32_t layers, Dropout,
                          std::uint32_t flags);

    Status (*weight_bytes)(Handle, Network, std::size_t*);
    Status (*weight_params)(Handle, Network, std::int32_t pseudo_layer, std::size_t weight_bytes,
                            const void* weights, std::int32_t product, Tensor matrix,
                            void** matrix_address, Tensor bias, void** bias_address);
    Status (*space_bytes)(Handle, Network, Mode, Sequence x, std::size_t* workspace,
                          std::size_t* reserve);

    Status (*forward)(Handle, Network, Mode, const std::int32_t* lengths, Sequence x_desc,
                      const void* x, Sequence y_desc, void* y, Tensor h_desc, const void* h0,
                      void* h_n, Tensor c_desc, const void* c0, void* c_n, std::size_t weight_bytes,
                      const void* weights, std::size_t workspace_bytes, void* workspace,
                      std::size_t reserve_bytes, void* reserve);
    Status (*backward_data)(Handle, Network, const std::int32_t* lengths, Sequence y_desc,
                            const void* y, const void* dy, Sequence x_desc, void* dx, Tensor h_desc,
                            const void* h0, const void* dh_n, void* dh0, Tensor c_desc,
                            const void* c0, const void* dc_n, void* dc0, std::size_t weight_bytes,
                            const void* weights, std::size_t workspace_bytes, void* workspace,
                            std::size_t reserve_bytes, void* reserve);
    Status (*backward_weights)(Handle, Network, WeightGradient, const std::int32_t* lengths,
                               Sequence x_desc, const void* x, Tensor h_desc, const void* h0,
                               Sequence y_desc, const void* y, std::size_t weight_bytes,
                               void* d_weights, std::size_t workspace_bytes, void* workspace,
                               std::size_t reserve_bytes, void* reserve);
};

/// The members of Table by their names in the library.
#define HALFTONE_RNN_CALLS(CALL) \
    CALL(create, cudnnCreate) \
    CALL(set_stream, cudnnSetStream) \
    CALL(error_text, cudnnGetErrorString) \
    CALL(tensor_create, cudnnCreateTensorDescriptor) \
    CALL(tensor_destroy, cudnnDestroyTensorDescriptor) \
    CALL(tensor_set, cudnnSetTensorNdDescriptor) \
    CALL(tensor_get, cudnnGetTensorNdDescriptor) \
    CALL(dropout_create, cudnnCreateDropoutDescriptor) \
    CALL(dropout_destroy, cudnnDestroyDropoutDescriptor) \
    CALL(dropout_set, cudnnSetDropoutDescriptor) \
    CALL(sequence_create, cudnnCreateRNNDataDescriptor) \
    CALL(sequence_destroy, cudnnDestroyRNNDataDescriptor) \
    CALL(sequence_set, cudnnSetRNNDataDescriptor) \
    CALL(network_create, cudnnCreateRNNDescriptor) \
    CALL(network_destroy, cudnnDestroyRNNDescriptor) \
    CALL(network_set, cudnnSetRNNDescriptor_v8) \
    CALL(weight_bytes, cudnnGetRNNWeightSpaceSize) \
    CALL(weight_params, cudnnGetRNNWeightParams) \
    CALL(space_bytes, cudnnGetRNNTempSpaceSizes) \
    CALL(forward, cudnnRNNForward) \
    CALL(backward_data, cudnnRNNBackwardData_v8) \
    CALL(backward_weights, cudnnRNNBackwardWeights_v8)

/// The opened library's. Throws DeviceError if it is not there.
const Table& table();

/// Throws DeviceError naming the call unless `status` is success, OutOfMemory if it says so.
void check(Status status, const char* call);

}  // namespace kernels::cuda::rnn
