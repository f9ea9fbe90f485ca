#include <cudnn.h>

#include "cuda/cudnn_rnn_api.h"
#include "cuda/same_call.h"

// cudnn_rnn_api.h against the header that comes with the library.
namespace kernels::cuda::rnn {

#define HALFTONE_SAME(ours, theirs) \
    static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
HALFTONE_SAME(success, CUDNN_STATUS_SUCCESS);
HALFTONE_SAME(not_supported, CUDNN_STATUS_NOT_SUPPORTED);
HALFTONE_SAME(no_host_memory, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
HALFTONE_SAME(no_device_memory, CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
static_assert(is_not_supported(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH));
static_assert(!is_not_supported(CUDNN_STATUS_INTERNAL_ERROR));
static_assert(!is_not_supported(CUDNN_STATUS_BAD_PARAM));
HALFTONE_SAME(DataType::f32, CUDNN_DATA_FLOAT);
HALFTONE_SAME(DataType::f64, CUDNN_DATA_DOUBLE);
HALFTONE_SAME(DataType::f16, CUDNN_DATA_HALF);
HALFTONE_SAME(DataType::bf16, CUDNN_DATA_BFLOAT16);
HALFTONE_SAME(Algorithm::standard, CUDNN_RNN_ALGO_STANDARD);
HALFTONE_SAME(Algorithm::persist_static, CUDNN_RNN_ALGO_PERSIST_STATIC);
HALFTONE_SAME(Algorithm::persist_static_small_h, CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H);
HALFTONE_SAME(Cell::relu, CUDNN_RNN_RELU);
HALFTONE_SAME(Cell::tanh, CUDNN_RNN_TANH);
HALFTONE_SAME(Cell::lstm, CUDNN_LSTM);
HALFTONE_SAME(Cell::gru, CUDNN_GRU);
HALFTONE_SAME(Bias::none, CUDNN_RNN_NO_BIAS);
HALFTONE_SAME(Bias::two, CUDNN_RNN_DOUBLE_BIAS);
HALFTONE_SAME(Direction::one, CUDNN_UNIDIRECTIONAL);
HALFTONE_SAME(Direction::both, CUDNN_BIDIRECTIONAL);
HALFTONE_SAME(Input::linear, CUDNN_LINEAR_INPUT);
HALFTONE_SAME(Math::standard, CUDNN_DEFAULT_MATH);
HALFTONE_SAME(Math::tensor_op, CUDNN_TENSOR_OP_MATH);
HALFTONE_SAME(Math::fma, CUDNN_FMA_MATH);
HALFTONE_SAME(Layout::packed, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED);
HALFTONE_SAME(Mode::inference, CUDNN_FWD_MODE_INFERENCE);
HALFTONE_SAME(Mode::training, CUDNN_FWD_MODE_TRAINING);
HALFTONE_SAME(WeightGradient::add, CUDNN_WGRAD_MODE_ADD);
HALFTONE_SAME(padding_off, CUDNN_RNN_PADDED_IO_DISABLED);
#undef HALFTONE_SAME

namespace {

constexpr Table none{};
static_assert(same_call(&cudnnCreate, none.create));
static_assert(same_call(&cudnnSetStream, none.set_stream));
static_assert(same_call(&cudnnGetErrorString, none.error_text));
static_assert(same_call(&cudnnCreateTensorDescriptor, none.tensor_create));
static_assert(same_call(&cudnnDestroyTensorDescriptor, none.tensor_destroy));
static_assert(same_call(&cudnnSetTensorNdDescriptor, none.tensor_set));
static_assert(same_call(&cudnnGetTensorNdDescriptor, none.tensor_get));
static_assert(same_call(&cudnnCreateDropoutDescriptor, none.dropout_create));
static_assert(same_call(&cudnnDestroyDropoutDescriptor, none.dropout_destroy));
static_assert(same_call(&cudnnSetDropoutDescriptor, none.dropout_set));
static_assert(same_call(&cudnnCreateRNNDataDescriptor, none.sequence_create));
static_assert(same_call(&cudnnDestroyRNNDataDescriptor, none.sequence_destroy));
static_assert(same_call(&cudnnSetRNNDataDescriptor, none.sequence_set));
static_assert(same_call(&cudnnCreateRNNDescriptor, none.network_create));
static_assert(same_call(&cudnnDestroyRNNDescriptor, none.network_destroy));
static_assert(same_call(&cudnnSetRNNDescriptor_v8, none.network_set));
static_assert(same_call(&cudnnGetRNNWeightSpaceSize, none.weight_bytes));
static_assert(same_call(&cudnnGetRNNWeightParams, none.weight_params));
static_assert(same_call(&cudnnGetRNNTempSpaceSizes, none.space_bytes));
static_assert(same_call(&cudnnRNNForward, none.forward));
static_assert(same_call(&cudnnRNNBackwardData_v8, none.backward_data));
static_assert(same_call(&cudnnRNNBackwardWeights_v8, none.backward_weights));

}  // namespace
}  // namespace kernels::cuda::rnn
