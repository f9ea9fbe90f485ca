#include "models/network_plan.h"

#include <algorithm>
#include <limits>

#include "autograd/checkpoint.h"
#include "models/network_structure.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"

namespace engine::network {
namespace {

/// Makes the steps, in the parts of their modules.
class PlanMaker {
public:
    explicit PlanMaker(const PlanSetup& setup) : setup_(setup), graph_(setup.graph), modules_(graph_) {}

    Plan make() {
        count_states();
        // Buffers are registered in the order of the text, which is not that of joined layers.
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            if (graph_.nodes[i].kind->name.starts_with("BatchNorm")) (void)batch_norm_layer(layer(static_cast<int>(i)));
        for (const Join& join : find_joins(graph_, setup_.keeps_blocks)) add(join);
        find_last_uses();
        close_part(plan_.whole);
        return std::move(plan_);
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    const GraphNode& node(int index) const { return graph_.nodes[at(index)]; }

    void count_states() {
        std::size_t states = 0;
        for (const GraphNode& each : graph_.nodes) {
            first_states_.emplace_back();
            if (!each.arguments.all.contains("carry") || !each.arguments.flag("carry")) continue;
            first_states_.back() = states;
            states += each.kind->name == "LSTM" ? 2 : 1;
        }
    }

    LayerSetup layer(int index) const {
        return {{graph_, node(index), modules_.used_outputs(index)}, setup_.registry, setup_.device, setup_.tensors, setup_.buffers, first_states_[at(index)], setup_.frozen_eps};
    }

    void add(const Join& join) {
        enter(modules_.around(join.at));
        PlanPart& part = *open_.back();
        part.items.push_back({static_cast<int>(plan_.steps.size()), -1});
        for (PlanPart* each : open_)
            for (const int index : join.nodes) each->draws = each->draws || layer_run(*node(index).kind).draws;
        plan_.steps.push_back(step(join));
    }

    void enter(const std::vector<ModulePlace>& places) {
        if (open_.empty()) open_.push_back(&plan_.whole);
        std::size_t same = 0;
        while (same < places.size() && same < entered_.size() && places[same] == entered_[same]) ++same;
        open_.resize(same + 1);
        entered_.resize(same);
        for (; same < places.size(); ++same) {
            PlanPart& outer = *open_.back();
            outer.items.push_back({-1, static_cast<int>(outer.parts.size())});
            outer.parts.push_back({.module = ModuleName(places[same].module), .is_block = places[same].use >= 0});
            open_.push_back(&outer.parts.back());
            entered_.push_back(places[same]);
        }
    }

    PlanStep step(const Join& join) {
        PlanStep out;
        const GraphNode &first = node(join.nodes.front()), &last = node(join.at);
        out.inputs = first.inputs;
        out.outputs = last.outputs;
        switch (join.kind) {
            case Join::Kind::norm_relu:
                out.run = gives_one([norm = batch_norm_layer(layer(join.nodes[0]))](const Tensor& x, LayerPass& pass) { return norm.relu(x, {}, pass.training); });
                break;
            case Join::Kind::norm_add_relu: {
                const std::vector<int>& added = node(join.nodes[1]).inputs;
                out.inputs.push_back(added[0] == first.outputs.front() ? added[1] : added[0]);
                out.run = gives_one([norm = batch_norm_layer(layer(join.nodes[0]))](const TensorList& in, LayerPass& pass) { return norm.relu(in[0], in[1], pass.training); });
                break;
            }
            case Join::Kind::linear_relu:
                out.run = gives_one([own = linear_layer(layer(join.nodes[0]))](const Tensor& x) { return linear_relu(own, x); });
                break;
            case Join::Kind::linear_chain: {
                std::vector<Linear> layers;
                for (const int each : join.nodes) layers.push_back(linear_layer(layer(each)));
                out.run = gives_one([layers](const Tensor& x) { return linear_chain(layers, x); });
                break;
            }
            case Join::Kind::sum_norm:
                out.outputs.push_back(node(join.nodes[1]).outputs.front());
                out.run = [norm = layer_norm_layer(layer(join.nodes[1]))](TensorList&& in, LayerPass&) {
                    if (!LayerNorm::may_join_sum()) {
                        const Tensor sum = add_tensors(in[0], in[1]);
                        return TensorList{sum, norm(sum)};
                    }
                    SumAndNorm both = norm.of_sum(in[0], in[1]);
                    return TensorList{std::move(both.sum), std::move(both.normed)};
                };
                break;
            case Join::Kind::none: {
                const LayerRun& run = layer_run(*first.kind);
                out.run = run.make(layer(join.nodes[0]));
                if (NetworkModules::is_module(first)) out.module = ModuleName(first.module);
                out.opens = NetworkModules::is_module(first) && !run.opens_module;
            }
        }
        return out;
    }

    static Tensor add_tensors(const Tensor& a, const Tensor& b) { return engine::add(a, b); }

    void find_last_uses() {
        constexpr int end = std::numeric_limits<int>::max();
        last_.assign(graph_.values.size(), -1);
        for (std::size_t i = 0; i < plan_.steps.size(); ++i)
            for (const int value : plan_.steps[i].inputs) last_[at(value)] = static_cast<int>(i);
        for (const int value : graph_.outputs) last_[at(value)] = end;
        for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
            PlanStep& each = plan_.steps[i];
            for (std::size_t k = 0; k < each.inputs.size(); ++k) {
                const auto again = std::find(each.inputs.begin() + static_cast<std::ptrdiff_t>(k) + 1, each.inputs.end(), each.inputs[k]);
                each.last.push_back(last_[at(each.inputs[k])] == static_cast<int>(i) && again == each.inputs.end());
            }
            for (int& output : each.outputs)
                if (last_[at(output)] < 0) output = -1;
        }
    }

    struct Range {
        int first, last;
    };
    /// The steps of a part, and what its blocks take and give.
    Range close_part(PlanPart& part) {
        Range range{std::numeric_limits<int>::max(), -1};
        for (const PlanPart::Item& item : part.items) {
            const Range own = item.step >= 0 ? Range{item.step, item.step} : close_part(part.parts[at(item.part)]);
            range = {std::min(range.first, own.first), std::max(range.last, own.last)};
        }
        if (!part.is_block) return range;
        std::vector<bool> made(graph_.values.size(), false), taken(graph_.values.size(), false);
        for (int i = range.first; i <= range.last; ++i) {
            for (const int value : plan_.steps[at(i)].inputs) {
                if (made[at(value)] || taken[at(value)]) continue;
                taken[at(value)] = true;
                part.inputs.push_back(value);
                part.last.push_back(last_[at(value)] <= range.last);
            }
            for (const int value : plan_.steps[at(i)].outputs) {
                if (value < 0) continue;
                made[at(value)] = true;
                if (last_[at(value)] > range.last) part.outputs.push_back(value);
            }
        }
        return range;
    }

    const PlanSetup& setup_;
    const NetworkGraph& graph_;
    NetworkModules modules_;
    Plan plan_;
    std::vector<PlanPart*> open_;  // the parts that the next step is in, outermost first
    std::vector<ModulePlace> entered_;   // theirs, but for the whole
    std::vector<std::optional<std::size_t>> first_states_;  // of each node
    std::vector<int> last_;                                 // step that reads a value last
};

/// One run of a plan.
class PlanRun {
public:
    PlanRun(const Plan& plan, bool recompute) : plan_(plan), recompute_(recompute) {}

    void part(const PlanPart& part, TensorList& values, LayerPass& pass, const std::function<void()>& after = {}) const {
        for (const PlanPart::Item& item : part.items) {
            run(part, item, values, pass);
            if (after) after();
        }
    }

private:
    void run(const PlanPart& part, const PlanPart::Item& item, TensorList& values, LayerPass& pass) const {
        if (item.step >= 0) return step(plan_.steps[static_cast<std::size_t>(item.step)], values, pass);
        const PlanPart& inner = part.parts[static_cast<std::size_t>(item.part)];
        const ModuleScope opened(inner.module);
        if (inner.is_block && recompute_)
            block(inner, values, pass);
        else
            this->part(inner, values, pass);
    }

    static Tensor taken(TensorList& values, int value, bool last) {
        Tensor& held = values[static_cast<std::size_t>(value)];
        return last ? std::move(held) : held;
    }

    static void step(const PlanStep& step, TensorList& values, LayerPass& pass) {
        TensorList inputs;
        inputs.reserve(step.inputs.size());
        for (std::size_t i = 0; i < step.inputs.size(); ++i) inputs.push_back(taken(values, step.inputs[i], step.last[i]));
        std::optional<ModuleScope> opened;
        if (step.opens) opened.emplace(step.module);
        TensorList outputs = step.run(std::move(inputs), pass);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (step.outputs[i] >= 0) values[static_cast<std::size_t>(step.outputs[i])] = std::move(outputs[i]);
    }

    /// Keeps the block's inputs alone, and computes it again in the backward pass.
    void block(const PlanPart& part, TensorList& values, LayerPass& pass) const {
        TensorList inputs;
        for (std::size_t i = 0; i < part.inputs.size(); ++i) inputs.push_back(taken(values, part.inputs[i], part.last[i]));
        const auto segment = [&plan = plan_, &part, count = values.size(), first = &pass, later = pass.from_here(part.draws)](const TensorList& in) {
            LayerPass again = later;
            TensorList inner(count);
            for (std::size_t i = 0; i < in.size(); ++i) inner[static_cast<std::size_t>(part.inputs[i])] = in[i];
            PlanRun(plan, false).part(part, inner, recomputing() ? again : *first);
            TensorList out;
            for (const int value : part.outputs) out.push_back(std::move(inner[static_cast<std::size_t>(value)]));
            return out;
        };
        TensorList outputs = checkpoint(segment, inputs);
        for (std::size_t i = 0; i < outputs.size(); ++i) values[static_cast<std::size_t>(part.outputs[i])] = std::move(outputs[i]);
    }

    const Plan& plan_;
    bool recompute_;
};

}  // namespace

Plan make_plan(const PlanSetup& setup) { return PlanMaker(setup).make(); }

void run_plan(const Plan& plan, TensorList& values, LayerPass& pass, bool recompute, const std::function<void()>& after) {
    PlanRun(plan, recompute).part(plan.whole, values, pass, after);
}

}  // namespace engine::network
