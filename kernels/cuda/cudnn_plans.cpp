#include "cuda/cudnn_plans.h"

#include "cuda/cudnn_attention-inl.h"
#include "cuda/cudnn_convolution-inl.h"

namespace kernels::cuda {
namespace {

template <class Family>
CudnnPlans<Family>& plans() {
    static auto* only = new CudnnPlans<Family>;  // never closed, as the session
    return *only;
}

}  // namespace

std::optional<std::size_t> attention_graph_workspace(const AttentionGraph& graph,
                                                     std::string* why) {
    return plans<attention::Family>().workspace(graph, why);
}

std::size_t attention_library_version() {
    cudnn_session();  // throws if the library is missing
    return fe::detail::get_backend_version();
}

std::size_t attention_scratch_limit() { return std::size_t{1} << 30; }

void attend(const AttentionGraph& graph, const AttentionPointers& pointers, void* workspace,
            Stream stream) {
    plans<attention::Family>().run(graph, attention::variant(graph, pointers), workspace, stream);
}

GraphExamination examine(const AttentionGraph& graph, const DescribedDevice& device) {
    return CudnnPlans<attention::Family>::examine(graph, device);
}

std::optional<std::size_t> convolution_workspace(const ConvGraph& graph, std::string* why) {
    return plans<convolution::Family>().workspace(graph, why);
}

std::optional<std::size_t> convolution_workspace_below(const ConvGraph& graph, std::size_t bytes) {
    return plans<convolution::Family>().workspace_below(graph, bytes);
}

std::vector<std::string> convolution_engines(const ConvGraph& graph) {
    return plans<convolution::Family>().engines(graph);
}

void forget_convolution(const ConvGraph& graph) { plans<convolution::Family>().forget(graph); }

std::string convolution_engine(const ConvGraph& graph) {
    return plans<convolution::Family>().engine_of(graph);
}

void convolve(const ConvGraph& graph, const ConvPointers& pointers, void* workspace,
              Stream stream) {
    plans<convolution::Family>().run(graph, convolution::variant(graph, pointers), workspace,
                                     stream);
}

GraphExamination examine(const ConvGraph& graph, const DescribedDevice& device) {
    return CudnnPlans<convolution::Family>::examine(graph, device);
}

}  // namespace kernels::cuda
