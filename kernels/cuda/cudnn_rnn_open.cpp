#include "cuda/cudnn_rnn_api.h"
#include "cuda/library.h"

namespace kernels::cuda::rnn {
namespace {

template <typename F>
void take(F*& function, const char* name) {
    function = reinterpret_cast<F*>(cudnn_library().function(name));
}

Table open_table() {
    Table t{};
    take(t.create, "cudnnCreate");
    take(t.set_stream, "cudnnSetStream");
    take(t.error_text, "cudnnGetErrorString");
    take(t.tensor_create, "cudnnCreateTensorDescriptor");
    take(t.tensor_destroy, "cudnnDestroyTensorDescriptor");
    take(t.tensor_set, "cudnnSetTensorNdDescriptor");
    take(t.tensor_get, "cudnnGetTensorNdDescriptor");
    take(t.dropout_create, "cudnnCreateDropoutDescriptor");
    take(t.dropout_destroy, "cudnnDestroyDropoutDescriptor");
    take(t.dropout_set, "cudnnSetDropoutDescriptor");
    take(t.sequence_create, "cudnnCreateRNNDataDescriptor");
    take(t.sequence_destroy, "cudnnDestroyRNNDataDescriptor");
    take(t.sequence_set, "cudnnSetRNNDataDescriptor");
    take(t.network_create, "cudnnCreateRNNDescriptor");
    take(t.network_destroy, "cudnnDestroyRNNDescriptor");
    take(t.network_set, "cudnnSetRNNDescriptor_v8");
    take(t.weight_bytes, "cudnnGetRNNWeightSpaceSize");
    take(t.weight_params, "cudnnGetRNNWeightParams");
    take(t.space_bytes, "cudnnGetRNNTempSpaceSizes");
    take(t.forward, "cudnnRNNForward");
    take(t.backward_data, "cudnnRNNBackwardData_v8");
    take(t.backward_weights, "cudnnRNNBackwardWeights_v8");
    return t;
}

}  // namespace

const Table& table() {
    static const Table only = open_table();  // what throws is tried again by the next call
    return only;
}

}  // namespace kernels::cuda::rnn
