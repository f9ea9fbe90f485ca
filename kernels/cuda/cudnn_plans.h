#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/autotuner.h"
#include "cuda/cudnn_graph.h"
#include "cuda/cudnn_session.h"
#include "cuda/native.h"
#include "cuda/plan_cache.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"

// Takes longer to compile than any file of ours: cudnn_plans.cpp alone includes it, for all
// families of graphs.
#include <cudnn_frontend.h>

/// Shared by the families of cuDNN's graphs: from a description to a plan, and its run.
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

/// Attributes of a ConvTensor or an AttentionTensor.
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
///   static std::int64_t max_workspace(const DeviceInfo&);  limit of an engine's scratch, if any
///                                         engine stays within it
///   static std::string engine(const Description&);  the one that is to run it, by cuDNN's name for
///                                         it; empty: its first choice
template <class Family>
class CudnnPlans {
public:
    using Description = typename Family::Description;

    /// Bytes of scratch; nothing if there is no engine, or none can be made ready for now: `why` is
    /// as PlanCache gives it.
    std::optional<std::size_t> workspace(const Description& d, std::string* why) {
        CudnnSession& session = cudnn_session();
        native_stream({});  // the handle is made for the thread's device
        const std::lock_guard lock(session.mutex);
        const auto plan = plans_.get(d, maker(session, d), why);
        if (!plan) return std::nullopt;
        return plan->workspace_bytes;
    }

    /// Scratch of an engine that needs less than `bytes`, for which there was no room: from now on
    /// it runs the graph. Nothing if there is none.
    std::optional<std::size_t> workspace_below(const Description& d, std::size_t bytes) {
        CudnnSession& session = cudnn_session();
        const std::lock_guard lock(session.mutex);
        const auto most = static_cast<std::int64_t>(bytes) - 1;
        const Made made = make_guarded([&] { return make_plan(session, d, {}, true, most); });
        if (!made.plan) return std::nullopt;
        plans_.put(d, made.plan);
        return made.plan->workspace_bytes;
    }

    /// Like convolution_engines().
    std::vector<std::string> engines(const Description& d) {
        CudnnSession& session = cudnn_session();
        native_stream({});
        const std::lock_guard lock(session.mutex);
        std::vector<std::string> names;
        make_guarded([&] {
            Made open = open_graph(session, d, Family::max_workspace(device_info(d.device)));
            if (!open.plan) return open;
            build_all(*open.plan->graph, [&](const std::string& name, std::int64_t index) {
                Plan plan{open.plan->graph, index, scratch_of(*open.plan->graph, index)};
                Description by = d;
                by.engine = name;
                plans_.put(by, std::make_shared<Plan>(std::move(plan)));
                names.push_back(name);
            });
            return open;
        });  // where it fails, what has been made is enough
        return names;
    }

    void forget(const Description& d) {
        const std::lock_guard lock(cudnn_session().mutex);
        plans_.forget(d);
    }

    /// workspace() has said yes.
    std::string engine_name(const Description& d) {
        CudnnSession& session = cudnn_session();
        const std::lock_guard lock(session.mutex);
        const auto plan = plans_.get(d, maker(session, d));
        std::string name;
        if (plan) check(plan->graph->get_plan_name_at_index(plan->index, name), "get_plan_name");
        return name;
    }

    /// workspace() has said yes.
    void run(const Description& d, VariantPack pack, void* scratch, Stream stream) {
        auto* native = static_cast<cudaStream_t>(native_stream(stream));
        CudnnSession& session = cudnn_session();
        const std::lock_guard lock(session.mutex);
        std::string why;
        const auto plan = plans_.use(d, maker(session, d), stream, &why);  // made before
        if (!plan) throw DeviceError("cuDNN has no engine for a graph it was given. " + why);
        cudnnHandle_t handle = session.handle_of(d.device);
        check(fe::detail::set_stream(handle, native), "cudnnSetStream");
        execute(*plan, handle, pack, scratch);
        count_launch();
    }

    /// See cudnn_graph.h.
    static GraphExamination examine(const Description& d, const DescribedDevice& device);

private:
    struct Plan {
        Graph graph;
        std::int64_t index = 0;  ///< of the engine that was built, in the graph's list
        std::size_t workspace_bytes = 0;
    };
    using Made = MadePlan<Plan>;

    /// A kernel may be loaded by its first launch, and find no memory then.
    static void execute(const Plan& plan, cudnnHandle_t handle, VariantPack& pack, void* scratch) {
        const auto once = [&] {
            return guarded([&] {
                return plan.graph->execute_plan_at_index(handle, pack, scratch, plan.index);
            });
        };
        fe::error_t error = once();
        const auto lacks_memory = [&] {
            return error.is_bad() &&
                   read_complaint(error.get_message()).kind == PlanFailure::memory;
        };
        if (lacks_memory()) {
            trim_caches();
            error = once();  // results are written, none is added to
        }
        if (lacks_memory()) throw LibraryOutOfMemory(read_complaint(error.get_message()).words);
        check(error, "execute");
    }

    /// Keeps the engines that obey our rules, accept the graph and need at most
    /// `max_workspace` bytes of scratch. An error if there is none.
    static fe::error_t choose_engines(fe::graph::Graph& graph, const Description& d,
                                      std::int64_t max_workspace) {
        if (auto error =
                graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
            error.is_bad())
            return error;
        graph.deselect_numeric_notes(Family::unwanted(d));
        graph.deselect_workspace_greater_than(max_workspace);
        return graph.check_support();
    }

    static bool has_name(const fe::graph::Graph& graph, std::int64_t index,
                         const std::string& name) {
        std::string own;
        return graph.get_plan_name_at_index(index, own).is_good() && own == name;
    }

    /// The plan of `engine`, or of the first in cuDNN's order, that can be made: `index` is its
    /// place. An engine that supports the graph but fails is only skipped at the last try, since a
    /// slower one would be kept for good.
    static fe::error_t build_plan(fe::graph::Graph& graph, const std::string& engine, bool last_try,
                                  std::int64_t& index) {
        fe::error_t problem{fe::error_code_t::GRAPH_NOT_SUPPORTED, "no engine within our rules"};
        bool failed = false;
        for (std::int64_t i = 0; i < graph.get_execution_plan_count(); ++i) {
            if (!engine.empty() && !has_name(graph, i, engine)) continue;
            auto error = graph.build_plan_at_index(i);
            index = i;
            if (error.is_good()) return error;
            const PlanFailure kind = read_complaint(error.get_message()).kind;
            if (kind == PlanFailure::memory || (kind == PlanFailure::other && !last_try))
                return error;
            if (!failed) problem = error;
            failed |= kind == PlanFailure::other;
        }
        return problem;
    }

    static Made failure(fe::error_t error) {
        return {nullptr, read_complaint(error.get_message())};
    }

    /// The engines are known then, and none is built.
    static Made open_graph(CudnnSession& session, const Description& d,
                           std::int64_t max_workspace) {
        const DeviceInfo device = device_info(d.device);
        auto plan = std::make_shared<Plan>(Plan{.graph = std::make_shared<fe::graph::Graph>()});
        fe::graph::Graph& graph = *plan->graph;
#if CUDNN_FRONTEND_VERSION >= 13200
        // A captured graph of ours holds its plans itself. The frontend would ask the stream at
        // each call whether it is being captured, and release a plan when some later plan ends.
        graph.set_cuda_graph_retention(fe::CudaGraphRetention_t::NONE);
#endif
        // Else the frontend asks a CUDA run time for it, a shared one, which need not be here. Its
        // nodes copy it when they are added.
        graph.set_sm_version(10 * device.major + device.minor);
        if (!Family::add(graph, d)) return {};
        fe::error_t valid = graph.validate();
        if (valid.get_code() == fe::error_code_t::GRAPH_NOT_SUPPORTED) return {};
        check(valid, "validate");
        // Some versions say already here that no engine takes it.
        if (auto error = graph.build_operation_graph(session.handle_of(d.device)); error.is_bad())
            return failure(error);
        if (auto error = choose_engines(graph, d, max_workspace); error.is_bad())
            return failure(error);
        return {std::move(plan), {}};
    }

    static std::size_t scratch_of(const fe::graph::Graph& graph, std::int64_t index) {
        std::int64_t bytes = 0;
        check(graph.get_workspace_size_plan_at_index(index, bytes), "get_workspace_size");
        return static_cast<std::size_t>(bytes);
    }

    static Made make_plan(CudnnSession& session, const Description& d, const std::string& engine,
                          bool last_try, std::int64_t max_workspace) {
        Made made = open_graph(session, d, max_workspace);
        if (!made.plan) return made;
        Plan& plan = *made.plan;
        if (auto error = build_plan(*plan.graph, engine, last_try, plan.index); error.is_bad())
            return failure(error);
        plan.workspace_bytes = scratch_of(*plan.graph, plan.index);
        return made;
    }

    /// Calls keep(name, index) for each engine whose plan could be made, in cuDNN's order, until
    /// that has taken long enough. The plans are the graph's.
    template <typename Keep>
    static void build_all(fe::graph::Graph& graph, const Keep& keep) {
        using Clock = std::chrono::steady_clock;
        const auto until = Clock::now() + std::chrono::milliseconds(max_build_ms);
        std::size_t made = 0;
        const std::int64_t count = graph.get_execution_plan_count();
        for (std::int64_t i = 0; i < count && made < max_candidates && Clock::now() < until; ++i) {
            std::string name;
            if (graph.build_plan_at_index(i).is_bad()) continue;
            check(graph.get_plan_name_at_index(i, name), "get_plan_name");
            keep(name, i);
            ++made;
        }
    }

    /// Engines within the family's limit, or any if none is: they are still faster than our loops.
    static Made make_usual(CudnnSession& session, const Description& d, bool last_try) {
        constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
        const std::int64_t most = Family::max_workspace(device_info(d.device));
        const std::string engine = Family::engine(d);
        Made made = make_plan(session, d, engine, last_try, most);
        const bool lacks = !made.plan && made.complaint.kind == PlanFailure::unsupported;
        if (lacks && engine.empty() && most < unlimited)
            made = make_plan(session, d, engine, last_try, unlimited);
        return made;
    }

    /// The frontend throws where the host has too little memory, or CUDA lacks a function.
    template <typename Make>
    static Made make_guarded(const Make& make) {
        try {
            return make();
        } catch (const DeviceError&) {
            throw;
        } catch (const std::bad_alloc& error) {
            return {nullptr, {PlanFailure::memory, error.what()}};
        } catch (const std::exception& error) {
            return {nullptr, {PlanFailure::other, error.what()}};
        }
    }

    /// The session's lock is held while it is called.
    static auto maker(CudnnSession& session, const Description& d) {
        return [&](bool last_try) {
            return make_guarded([&] { return make_usual(session, d, last_try); });
        };
    }

    /// More shapes than a training run has.
    PlanCache<Description, Plan, typename Family::Hash> plans_{512};
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
    if (!described || fails("engines", choose_engines(*graph, d, device.max_workspace)))
        return result;
    std::int64_t index = 0;
    if (Family::loads_kernels || fails("plan", build_plan(*graph, Family::engine(d), true, index)))
        return result;
    check(graph->get_plan_name_at_index(index, result.engine), "get_plan_name");
    result.workspace_bytes = static_cast<std::int64_t>(scratch_of(*graph, index));
    if (device.for_race)
        build_all(*graph,
                  [&](const std::string& name, std::int64_t) { result.engines.push_back(name); });
    return result;
}

}  // namespace kernels::cuda
