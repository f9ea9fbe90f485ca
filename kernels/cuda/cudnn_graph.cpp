#include "cuda/cudnn_graph.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/library.h"
#include "cuda/lru_cache.h"
#include "cuda/native.h"
#include "kernels/cuda_device.h"
#include "kernels/device_error.h"

// The only file that includes cudnn-frontend: it takes half a minute to compile.
#include <cudnn_frontend.h>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // the frontend takes cuDNN's functions from it
}

namespace kernels::cuda {
namespace {

namespace fe = cudnn_frontend;

using Graph = std::shared_ptr<fe::graph::Graph>;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

enum Uid : std::int64_t { uid_x = 1, uid_w, uid_y, uid_bias };

/// More shapes than a training run has.
constexpr std::size_t most_plans = 512;

/// A graph without an engine is remembered too: it is not asked for again.
struct Plan {
    Graph graph;  ///< null: cuDNN has none
    std::size_t workspace_bytes = 0;
};

struct Plans {
    std::mutex mutex;  // of all below, and of a handle's stream while work is put on it
    std::map<int, cudnnHandle_t> handles;  // by device
    LruCache<ConvGraph, Plan, ConvGraphHash> entries{most_plans};
};
Plans& all_plans() {
    static auto* only = new Plans;  // never closed: cuDNN may be unloaded before our exit
    return *only;
}

void check(fe::error_t error, const char* call) {
    if (error.is_bad())
        throw DeviceError(std::string("cuDNN ") + call + ": " + error.get_message());
}

void check(cudnnStatus_t status, const char* call) {
    if (status != CUDNN_STATUS_SUCCESS)
        throw DeviceError(std::string(call) + ": " + fe::detail::get_error_string(status));
}

/// The frontend throws types of its own where it misses a function of CUDA's.
template <typename F>
decltype(auto) guarded(const F& f) {
    try {
        return f();
    } catch (const DeviceError&) {
        throw;
    } catch (const std::exception& error) {
        throw DeviceError(std::string("cuDNN: ") + error.what());
    }
}

/// Before the first word with the frontend.
void open_cudnn() {
    static const bool opened = [] {
        cudnn_library().function("cudnnGetVersion");  // throws where there is none
        fe::cudnn_dlhandle = cudnn_library().handle;
        return true;
    }();
    static_cast<void>(opened);
}

cudnnHandle_t handle_of(Plans& plans, int device) {
    cudnnHandle_t& handle = plans.handles[device];
    if (!handle) check(fe::detail::create_handle(&handle), "cudnnCreate");
    return handle;
}

fe::DataType_t type_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return fe::DataType_t::DOUBLE;
        case DType::f16:
            return fe::DataType_t::HALF;
        case DType::bf16:
            return fe::DataType_t::BFLOAT16;
        default:
            return fe::DataType_t::FLOAT;
    }
}

std::vector<std::int64_t> list(const std::array<std::int64_t, 4>& values) {
    return {values.begin(), values.end()};
}
std::vector<std::int64_t> list(const std::array<std::int64_t, 2>& values) {
    return {values.begin(), values.end()};
}

fe::graph::Tensor_attributes attributes(const ConvTensor& tensor, Uid uid) {
    return fe::graph::Tensor_attributes()
        .set_uid(uid)
        .set_dim(list(tensor.dims))
        .set_stride(list(tensor.strides))
        .set_data_type(type_of(tensor.dtype));
}

template <typename Attributes>
Attributes window(const ConvGraph& g) {
    return Attributes()
        .set_padding(list(g.padding))
        .set_stride(list(g.stride))
        .set_dilation(list(g.dilation));
}

Tensor add_forward(fe::graph::Graph& graph, const ConvGraph& g) {
    const Tensor x = graph.tensor(attributes(g.x, uid_x));
    const Tensor w = graph.tensor(attributes(g.w, uid_w));
    Tensor y = graph.conv_fprop(x, w, window<fe::graph::Conv_fprop_attributes>(g));
    if (!g.bias) return y;
    // Between the two the sums stay in the compute type, so that the store alone rounds.
    y->set_dim(list(g.y.dims)).set_stride(list(g.y.strides));
    const Tensor bias = graph.tensor(attributes(*g.bias, uid_bias));
    return graph.pointwise(y, bias,
                           fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
}

Tensor add_data_gradient(fe::graph::Graph& graph, const ConvGraph& g) {
    const Tensor dy = graph.tensor(attributes(g.y, uid_y));
    const Tensor w = graph.tensor(attributes(g.w, uid_w));
    return graph.conv_dgrad(dy, w, window<fe::graph::Conv_dgrad_attributes>(g));
}

Tensor add_weight_gradient(fe::graph::Graph& graph, const ConvGraph& g) {
    const Tensor dy = graph.tensor(attributes(g.y, uid_y));
    const Tensor x = graph.tensor(attributes(g.x, uid_x));
    return graph.conv_wgrad(dy, x, window<fe::graph::Conv_wgrad_attributes>(g));
}

struct Written {
    Tensor tensor;
    const ConvTensor* as;
    Uid uid;
};

Written add_operation(fe::graph::Graph& graph, const ConvGraph& g) {
    switch (g.operation) {
        case ConvOperation::forward:
            return {add_forward(graph, g), &g.y, uid_y};
        case ConvOperation::data_gradient:
            return {add_data_gradient(graph, g), &g.x, uid_x};
        default:
            return {add_weight_gradient(graph, g), &g.w, uid_w};
    }
}

/// Sums in f32, in f64 for f64.
Graph make_graph(const ConvGraph& g) {
    auto graph = std::make_shared<fe::graph::Graph>();
    const bool wide = g.x.dtype == DType::f64;
    const auto compute = wide ? fe::DataType_t::DOUBLE : fe::DataType_t::FLOAT;
    graph->set_intermediate_data_type(compute).set_compute_data_type(compute);
    const Written written = add_operation(*graph, g);
    written.tensor->set_output(true)
        .set_uid(written.uid)
        .set_data_type(type_of(written.as->dtype))
        .set_dim(list(written.as->dims))
        .set_stride(list(written.as->strides));
    return graph;
}

/// Same numbers on every device, up to the order of summation (D3), and the same in every run:
/// no operands taken in a narrower type, no sums in one, no transforms that trade accuracy for
/// speed, no atomic adds.
std::vector<fe::NumericalNote_t> unwanted(const ConvGraph& g) {
    std::vector<fe::NumericalNote_t> notes = {
        fe::NumericalNote_t::DOWN_CONVERT_INPUTS, fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION,
        fe::NumericalNote_t::NONDETERMINISTIC, fe::NumericalNote_t::WINOGRAD,
        fe::NumericalNote_t::FFT};
    // Tensor Cores take f32 as TF32.
    if (g.x.dtype == DType::f32 && !g.tf32) notes.push_back(fe::NumericalNote_t::TENSOR_CORE);
    return notes;
}

fe::error_t build_plan(fe::graph::Graph& graph, const ConvGraph& g) {
    if (auto error = graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
        error.is_bad())
        return error;
    graph.deselect_numeric_notes(unwanted(g));
    if (auto error = graph.check_support(); error.is_bad()) return error;
    return graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE);
}

Plan make_plan(Plans& plans, const ConvGraph& g) {
    Graph graph = make_graph(g);
    // Else the frontend asks a CUDA run time for it, a shared one, which need not be here.
    const DeviceInfo device = device_info(g.device);
    graph->set_sm_version(10 * device.major + device.minor);
    check(graph->validate(), "validate");
    // Some versions say already here that no engine takes it.
    if (graph->build_operation_graph(handle_of(plans, g.device)).is_bad()) return {};
    if (build_plan(*graph, g).is_bad()) return {};
    std::int64_t bytes = 0;
    check(graph->get_workspace_size(bytes), "get_workspace_size");
    return {std::move(graph), static_cast<std::size_t>(bytes)};
}

/// plans.mutex is held.
Plan& plan_of(Plans& plans, const ConvGraph& g) {
    return plans.entries.get(g, [&] { return make_plan(plans, g); });
}

std::unordered_map<std::int64_t, void*> variant(const ConvGraph& g, const ConvPointers& p) {
    const auto argument = [](const void* data) { return const_cast<void*>(data); };
    std::unordered_map<std::int64_t, void*> pack = {
        {uid_x, argument(p.x)}, {uid_w, argument(p.w)}, {uid_y, argument(p.y)}};
    if (g.bias) pack.emplace(uid_bias, argument(p.bias));
    return pack;
}

}  // namespace

std::optional<std::size_t> convolution_workspace(const ConvGraph& graph) {
    open_cudnn();
    native_stream({});  // the handle is made for the thread's device
    Plans& plans = all_plans();
    const std::lock_guard lock(plans.mutex);
    const Plan& plan = guarded([&]() -> Plan& { return plan_of(plans, graph); });
    if (!plan.graph) return std::nullopt;
    return plan.workspace_bytes;
}

void convolve(const ConvGraph& graph, const ConvPointers& pointers, void* workspace,
              Stream stream) {
    auto* native = static_cast<cudaStream_t>(native_stream(stream));
    Plans& plans = all_plans();
    const std::lock_guard lock(plans.mutex);
    const Plan& plan = plan_of(plans, graph);  // made before
    if (!plan.graph) throw DeviceError("cuDNN has no engine for a convolution it was given");
    cudnnHandle_t handle = handle_of(plans, graph.device);
    check(fe::detail::set_stream(handle, native), "cudnnSetStream");
    auto pack = variant(graph, pointers);
    guarded([&] { check(plan.graph->execute(handle, pack, workspace), "execute"); });
    count_launch();
}

namespace {

fe::error_t describe_device(fe::graph::Graph& graph, const DescribedDevice& device) {
    auto properties = std::make_shared<fe::DeviceProperties>();
    const std::vector<std::uint8_t> json(device.properties.begin(), device.properties.end());
    auto error = properties->deserialize(json);
    graph.set_device_properties(properties).set_sm_version(device.compute_capability);
    return error;
}

}  // namespace

GraphExamination examine(const ConvGraph& g, const DescribedDevice& device) {
    open_cudnn();
    const Graph graph = make_graph(g);
    GraphExamination result;
    const auto fails = [&](const char* step, fe::error_t error) {
        if (error.is_bad()) result.problem = std::string(step) + ": " + error.get_message();
        return error.is_bad();
    };
    const bool described = !device.properties.empty();
    if (described && fails("device", describe_device(*graph, device))) return result;
    if (fails("validate", graph->validate())) return result;
    // Without a handle or a device cuDNN takes the graph, if it is good, all the same.
    if (fails("build_operation_graph",
              described ? graph->build_operation_graph() : graph->build_operation_graph(nullptr)))
        return result;
    if (!described || fails("plan", build_plan(*graph, g))) return result;
    check(graph->get_plan_name(result.engine), "get_plan_name");
    check(graph->get_workspace_size(result.workspace_bytes), "get_workspace_size");
    return result;
}

}  // namespace kernels::cuda
