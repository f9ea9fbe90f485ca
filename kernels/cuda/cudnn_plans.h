#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/cudnn_graph.h"
#include "cuda/cudnn_session.h"
#include "cuda/lru_cache.h"
#include "cuda/native.h"
#include "kernels/cuda_device.h"
#include "kernels/device_error.h"

// Half a minute to compile: one file a family of graphs includes this one, and no other does.
#include <cudnn_frontend.h>

/// What the families of cuDNN's graphs share: from a description to a plan, and its run.
namespace kernels::cuda {

namespace fe = cudnn_frontend;

using Graph = std::shared_ptr<fe::graph::Graph>;
using GraphTensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using VariantPack = std::unordered_map<std::int64_t, void*>;

inline void check(fe::error_t error, const char* call) {
    if (error.is_bad())
        throw DeviceError(std::string("cuDNN ") + call + ": " + error.get_message());
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

inline fe::DataType_t type_of(DType dtype) {
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

template <std::size_t n>
std::vector<std::int64_t> list(const std::array<std::int64_t, n>& values) {
    return {values.begin(), values.end()};
}

/// Of a ConvTensor or an AttentionTensor.
template <class Described>
fe::graph::Tensor_attributes attributes(const Described& tensor, DType dtype, std::int64_t uid) {
    return fe::graph::Tensor_attributes()
        .set_uid(uid)
        .set_dim(list(tensor.dims))
        .set_stride(list(tensor.strides))
        .set_data_type(type_of(dtype));
}

template <class Described>
void write_as(const GraphTensor& tensor, const Described& as, DType dtype, std::int64_t uid) {
    tensor->set_output(true)
        .set_uid(uid)
        .set_data_type(type_of(dtype))
        .set_dim(list(as.dims))
        .set_stride(list(as.strides));
}

inline void* argument(const void* data) { return const_cast<void*>(data); }

/// The plans of one family by description. A family says
///   using Description, Hash;
///   static bool add(fe::graph::Graph&, const Description&);  false: a graph that we do not want
///   static std::vector<fe::NumericalNote_t> unwanted(const Description&);
///   static constexpr bool loads_kernels;  true: a plan is built where the driver is
template <class Family>
class CudnnPlans {
public:
    using Description = typename Family::Description;

    /// Bytes of scratch; nothing if there is no engine.
    std::optional<std::size_t> workspace(const Description& d) {
        CudnnSession& session = cudnn_session();
        native_stream({});  // the handle is made for the thread's device
        const std::lock_guard lock(session.mutex);
        const Plan& plan = guarded([&]() -> Plan& { return plan_of(session, d); });
        if (!plan.graph) return std::nullopt;
        return plan.workspace_bytes;
    }

    /// workspace() has said yes.
    void run(const Description& d, VariantPack pack, void* scratch, Stream stream) {
        auto* native = static_cast<cudaStream_t>(native_stream(stream));
        CudnnSession& session = cudnn_session();
        const std::lock_guard lock(session.mutex);
        const Plan& plan = guarded([&]() -> Plan& { return plan_of(session, d); });  // made before
        if (!plan.graph) throw DeviceError("cuDNN has no engine for a graph it was given");
        cudnnHandle_t handle = session.handle_of(d.device);
        check(fe::detail::set_stream(handle, native), "cudnnSetStream");
        guarded([&] { check(plan.graph->execute(handle, pack, scratch), "execute"); });
        count_launch();
    }

    /// See cudnn_graph.h.
    static GraphExamination examine(const Description& d, const DescribedDevice& device);

private:
    /// A graph without an engine is remembered too: it is not asked for again.
    struct Plan {
        Graph graph;  ///< null: cuDNN has none
        std::size_t workspace_bytes = 0;
    };

    /// Leaves the engines within our rules that take the graph; an error if there is none.
    static fe::error_t choose_engines(fe::graph::Graph& graph, const Description& d) {
        if (auto error =
                graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
            error.is_bad())
            return error;
        graph.deselect_numeric_notes(Family::unwanted(d));
        return graph.check_support();
    }

    static fe::error_t build_plan(fe::graph::Graph& graph) {
        return graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE);
    }

    static Plan make_plan(CudnnSession& session, const Description& d) {
        const DeviceInfo device = device_info(d.device);
        auto graph = std::make_shared<fe::graph::Graph>();
        // Else the frontend asks a CUDA run time for it, a shared one, which need not be here. Its
        // nodes copy it when they are added.
        graph->set_sm_version(10 * device.major + device.minor);
        if (!Family::add(*graph, d)) return {};
        fe::error_t valid = graph->validate();
        if (valid.get_code() == fe::error_code_t::GRAPH_NOT_SUPPORTED) return {};
        check(valid, "validate");
        // Some versions say already here that no engine takes it.
        if (graph->build_operation_graph(session.handle_of(d.device)).is_bad()) return {};
        if (choose_engines(*graph, d).is_bad() || build_plan(*graph).is_bad()) return {};
        std::int64_t bytes = 0;
        check(graph->get_workspace_size(bytes), "get_workspace_size");
        return {std::move(graph), static_cast<std::size_t>(bytes)};
    }

    /// The session's lock is held.
    Plan& plan_of(CudnnSession& session, const Description& d) {
        return entries_.get(d, [&] { return make_plan(session, d); });
    }

    /// More shapes than a training run has.
    LruCache<Description, Plan, typename Family::Hash> entries_{512};
};

inline fe::error_t describe_device(fe::graph::Graph& graph, const DescribedDevice& device) {
    auto properties = std::make_shared<fe::DeviceProperties>();
    const std::vector<std::uint8_t> json(device.properties.begin(), device.properties.end());
    auto error = properties->deserialize(json);
    graph.set_device_properties(properties);
    return error;
}

template <class Family>
GraphExamination CudnnPlans<Family>::examine(const Description& d, const DescribedDevice& device) {
    cudnn_session();
    GraphExamination result;
    const auto graph = std::make_shared<fe::graph::Graph>();
    const auto fails = [&](const char* step, fe::error_t error) {
        if (error.is_bad()) result.problem = std::string(step) + ": " + error.get_message();
        return error.is_bad();
    };
    const bool described = !device.properties.empty();
    if (described && fails("device", describe_device(*graph, device))) return result;
    if (device.compute_capability) graph->set_sm_version(device.compute_capability);
    if (!Family::add(*graph, d)) {
        result.problem = "a graph that we do not want";
        return result;
    }
    if (fails("validate", graph->validate())) return result;
    // Without a handle or a device cuDNN takes the graph, if it is good, all the same.
    if (fails("build_operation_graph",
              described ? graph->build_operation_graph() : graph->build_operation_graph(nullptr)))
        return result;
    if (!described || fails("engines", choose_engines(*graph, d))) return result;
    if (Family::loads_kernels || fails("plan", build_plan(*graph))) return result;
    check(graph->get_plan_name(result.engine), "get_plan_name");
    check(graph->get_workspace_size(result.workspace_bytes), "get_workspace_size");
    return result;
}

}  // namespace kernels::cuda
