#include "cuda/recurrent_choice.h"

#include <array>
#include <optional>
#include <string>

#include "cuda/autotuner.h"
#include "cuda/native.h"
#include "cuda/workspace.h"
#include "kernels/cuda_graph.h"

namespace kernels::cuda {
namespace {

using rnn::Algorithm;
using PlanPointer = std::shared_ptr<rnn::Plan>;

/// Layers and sizes for which the kernels of persist_static exist and pay.
bool suits_persist_static(const RecurrentNetwork& n) {
    return n.dtype == DType::f16 && n.layers == 1 && n.directions() == 1 && n.hidden <= 1024 &&
           n.hidden % 128 == 0 && n.input % 128 == 0;
}

/// Cards from Ampere on with enough multiprocessors to hold all blocks at a time; 8.6 has failed.
bool pays_persist_static(const RecurrentNetwork& n, const DeviceInfo& card) {
    constexpr int min_multiprocessors = 98;
    if (card.major < 8 || card.minor == 6 || card.multiprocessors < min_multiprocessors)
        return false;
    if (n.cell == RecurrentCell::gru || n.batch % 8 != 0 || n.batch > 128) return false;
    return n.cell == RecurrentCell::lstm || n.batch < 96 || n.hidden < 896;
}

/// Both passes of a training step use one algorithm, and the backward pass has the lower limit.
bool suits_small_hidden(const RecurrentNetwork& n) {
    const bool gated = n.cell == RecurrentCell::lstm || n.cell == RecurrentCell::gru;
    if (n.training) return n.hidden <= (gated ? 128 : 256);
    return n.hidden <= (gated ? 192 : 384);
}

std::string text(const RecurrentNetwork& n) {
    const std::array numbers{static_cast<std::int64_t>(n.cell),
                             static_cast<std::int64_t>(n.dtype),
                             n.steps,
                             n.batch,
                             n.input,
                             n.hidden,
                             n.layers,
                             n.directions(),
                             std::int64_t{n.biases},
                             std::int64_t{n.tf32},
                             std::int64_t{n.training}};
    return "recurrent network " + text_of(numbers);
}

/// Null: the library does not compute the network so.
PlanPointer plan_by(Algorithm algorithm, rnn::Handle handle, const RecurrentNetwork& network) {
    PlanPointer plan;
    const bool found = runs([&] {
        plan = std::make_shared<rnn::Plan>(handle, network, algorithm);
        return plan->found();
    });
    return found ? plan : nullptr;
}

/// Memory for the passes of a step, all zero: the time does not depend on the numbers.
class Step {
public:
    Step(const RecurrentNetwork& n, PlanPointer plan, Stream stream)
        : network_(n), plan_(std::move(plan)) {
        const std::size_t element = size_of(n.dtype);
        const auto bytes = [&](std::int64_t count) {
            return static_cast<std::size_t>(count) * element;
        };
        const std::size_t input = bytes(n.steps * n.batch * n.input);
        const std::size_t output = bytes(n.steps * n.batch * n.hidden * n.directions());
        const std::size_t state = bytes(n.layers * n.directions() * n.batch * n.hidden);
        const RecurrentSpaces spaces = plan_->spaces();
        const std::array sizes{input,          input,
                               output,         output,
                               state,          state,
                               state,          state,
                               state,          state,
                               spaces.weights, spaces.weights,
                               spaces.reserve, plan_->workspace_bytes()};
        WorkspaceParts parts;
        for (std::size_t i = 0; i < sizes.size(); ++i) places_[i] = parts.take(sizes[i]);
        memory_.emplace(parts.total());
        set_zero(memory_->data(), parts.total(), stream);
    }

    bool run(rnn::Handle handle) const {
        const bool lstm = network_.cell == RecurrentCell::lstm;
        const auto cell = [&](Part part) { return lstm ? at(part) : nullptr; };
        const RecurrentForwardPass f{.x = at(x),
                                     .h0 = at(h0),
                                     .c0 = cell(c0),
                                     .params = {},
                                     .y = at(y),
                                     .h_n = at(h_n),
                                     .c_n = cell(c_n),
                                     .weights = at(weights),
                                     .reserve = network_.training ? at(reserve) : nullptr};
        if (!supported(plan_->forward(handle, f, at(workspace)), "cudnnRNNForward")) return false;
        if (!network_.training) return true;
        const RecurrentBackwardPass b{.x = at(x),
                                      .h0 = at(h0),
                                      .c0 = cell(c0),
                                      .y = at(y),
                                      .dy = at(dy),
                                      .weights = at(weights),
                                      .reserve = at(reserve),
                                      .dx = at(dx),
                                      .dh0 = at(dh0),
                                      .dc0 = cell(dc0),
                                      .d_weights = at(d_weights),
                                      .d_params = {}};
        return supported(plan_->backward_data(handle, b, at(workspace)),
                         "cudnnRNNBackwardData_v8") &&
               supported(plan_->backward_weights(handle, b, at(workspace)),
                         "cudnnRNNBackwardWeights_v8");
    }

private:
    enum Part : std::size_t {
        x,
        dx,
        y,
        dy,
        h0,
        c0,
        h_n,
        c_n,
        dh0,
        dc0,
        weights,
        d_weights,
        reserve,
        workspace,
        part_count
    };
    std::byte* at(Part part) const {
        return static_cast<std::byte*>(memory_->data()) + places_[part];
    }
    static bool supported(rnn::Status status, const char* call) {
        if (rnn::is_not_supported(status)) return false;
        rnn::check(status, call);
        return true;
    }

    const RecurrentNetwork& network_;
    PlanPointer plan_;
    std::array<std::size_t, part_count> places_{};
    std::optional<RaceMemory> memory_;
};

/// `plans` are of different algorithms, and more than one.
PlanPointer winner(const std::vector<PlanPointer>& plans, rnn::Handle handle,
                   const RecurrentNetwork& network) {
    const Stream stream;
    rnn::check(rnn::table().set_stream(handle, native_stream(stream)), "cudnnSetStream");
    std::optional<Step> step;
    std::size_t at_turn = plans.size();
    const auto run = [&](std::size_t i) {
        return runs([&] {
            if (i != at_turn) {
                step.reset();
                at_turn = i;
                step.emplace(network, plans[i], stream);
            }
            return step && step->run(handle);
        });
    };
    Candidates candidates{text(network), "cuDNN", {}, run};
    for (const PlanPointer& plan : plans) candidates.names.push_back(rnn::name_of(plan->algorithm()));
    const auto won = select_algorithm(candidates, stream);
    return plans[won.value_or(0)];
}

}  // namespace

std::vector<Algorithm> persistent_algorithms(const RecurrentNetwork& network,
                                             const DeviceInfo& card) {
    std::vector<Algorithm> out;
    if (suits_persist_static(network) && pays_persist_static(network, card))
        out.push_back(Algorithm::persist_static);
    if (suits_small_hidden(network)) out.push_back(Algorithm::persist_static_small_h);
    return out;
}

PlanPointer fastest_plan(rnn::Handle handle, const RecurrentNetwork& network,
                         const PlanPointer& standard) {
    const auto stored = stored_winner(text(network), "cuDNN");
    if (stored == rnn::name_of(Algorithm::standard)) return standard;
    std::vector<PlanPointer> plans{standard};
    for (const Algorithm algorithm :
         persistent_algorithms(network, device_info(current_device()))) {
        const bool is_stored = stored == rnn::name_of(algorithm);
        if (recording(current_device()) && !is_stored) continue;
        PlanPointer plan = plan_by(algorithm, handle, network);
        if (plan && is_stored) return plan;
        if (plan) plans.push_back(std::move(plan));
    }
    return plans.size() > 1 ? winner(plans, handle, network) : standard;
}

}  // namespace kernels::cuda
