#include "network/expand.h"

#include <algorithm>

#include "engine/base/near_name.h"
#include "engine/base/plain_text.h"
#include "network/module_calls.h"

namespace engine::network {
namespace {

/// Names that come twice in a list; empty: none.
std::string doubled(const std::vector<std::string>& names) {
    for (std::size_t i = 1; i < names.size(); ++i)
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) != names.begin() + static_cast<std::ptrdiff_t>(i)) return names[i];
    return {};
}

class Expander final : private BodyRunner {
public:
    Expander(const NetworkSyntax& syntax, const NetworkData& data, std::vector<NetworkFault>& faults)
        : syntax_(syntax), data_(data), expansion_(graph_, faults), builder_(graph_, expansion_) {}

    NetworkGraph run() {
        try {
            TextEnvironment environment(syntax_, data_, expansion_);
            ModuleCalls calls(syntax_, expansion_, environment, builder_, *this);
            environment_ = &environment;
            calls_ = &calls;
            check_blocks();
            expand();
            if (!expansion_.has_faults()) {
                environment.note_unused_inits();
                note_dropped_samples();
            }
        } catch (const Overrun& overrun) {
            expansion_.report(overrun.failure);
        }
        order_parameters(graph_);
        return std::move(graph_);
    }

private:
    /// A path that is dropped and not added to another one leaves nothing of its samples.
    void note_dropped_samples() {
        std::vector<bool> merged(graph_.values.size(), false);
        for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
            const bool is_merged = merged[static_cast<std::size_t>(node->outputs.front())];
            if (node->kind->name == "DropPath" && node->arguments.number("p") > 0 && !is_merged)
                expansion_.note(node->place, msg("DropPath: no sum takes its result, so whole samples become 0. It belongs on a branch: Add from above, x."));
            if (node->kind->merges || (!node->kind->weighted && is_merged))
                for (const int input : node->inputs) merged[static_cast<std::size_t>(input)] = true;
        }
    }

    void check_blocks() {
        std::set<std::string> names;
        for (const BlockLine& block : syntax_.blocks) {
            std::vector<std::string> parameters;
            for (const auto& parameter : block.parameters) parameters.push_back(parameter.name);
            for (const std::string& twice : {doubled(parameters), doubled(block.inputs)})
                if (!twice.empty()) expansion_.report({block.place, msg("{}: {} comes twice.", block.name, twice), {}});
            if (!block.name.empty() && !names.insert(block.name).second)
                expansion_.report({block.place, msg("{}: there is a block of this name above.", block.name), {}});
            else if (find_layer_kind(block.name) != nullptr)
                expansion_.note(block.place, msg("{}: this block hides the layer of its name.", block.name));
        }
    }

    void expand() {
        auto names = std::make_shared<Names>(nullptr, 0);
        const NamedValue first = set_inputs(*names);
        expansion_.set_name(*names, "in", first);
        if (syntax_.body.empty()) return;
        int count = 0;
        Frame frame{std::make_shared<Variables>(environment_->variables(), expansion_.clock()), names, {}, first, &count, syntax_.blocks.size()};
        const std::vector<NamedValue> outputs = outputs_of(frame);
        for (const NamedValue& output : outputs)
            if (output.value >= 0) graph_.outputs.push_back(output.value);
        if (!syntax_.incomplete) {
            for (const BlockLine& block : syntax_.blocks) check_lines(block.body, frame);
            check_lines(syntax_.body, frame);
        }
        if (graph_.outputs.size() != outputs.size()) return;
        if (auto failure = check_outputs(graph_, syntax_, data_)) expansion_.report(*failure);
    }

    /// The values of the network's end, or of its stages.
    std::vector<NamedValue> outputs_of(Frame& frame) {
        if (!data_.stages || syntax_.gives == "stages") return run_body(syntax_.body, frame, true);
        stages_ = frame.names.get();
        try {
            run_body(syntax_.body, frame, true);
        } catch (const LastStage&) {
        }
        std::vector<NamedValue> outputs;
        for (std::size_t i = 0; i < stage_count; ++i) {
            const std::string label = stage_label(i);
            const auto found = expansion_.find_value(*frame.names, label);
            if (!found && !expansion_.has_faults())
                expansion_.report({syntax_.network, msg("{}: no line of the network has this label. A detector reads layer1, layer2, layer3 and layer4, or the four values of a network that gives stages.", label), {}});
            outputs.push_back(found.value_or(NamedValue{}));
        }
        return outputs;
    }

    /// Ends the run of a text whose further lines are left out.
    struct LastStage {};
    void end_after_stages(const std::string& label, const Frame& frame) const {
        if (frame.names.get() == stages_ && label == stage_label(stage_count - 1)) throw LastStage{};
    }

    /// Faults of lines that did not run: of blocks that are not used, and of repeats of 0 times.
    void check_lines(const std::vector<Statement>& body, const Frame& frame) {
        for (const Statement& statement : body) {
            try {
                calls_->check_line(statement, frame);
                if (const std::string twice = doubled(statement.each); !twice.empty())
                    fail(statement.place, msg("repeat: {} comes twice.", twice));
            } catch (const Failure& failure) {
                expansion_.report(failure);
            } catch (const Unknown&) {
            }
            check_lines(statement.body, frame);
        }
    }

    // Inputs.

    /// Returns the first.
    NamedValue set_inputs(Names& names) {
        NamedValue first;
        std::set<std::string> seen;
        for (std::size_t i = 0; i < syntax_.inputs.size(); ++i) {
            const auto& wanted = syntax_.inputs[i];
            for (std::size_t k = 0; k < wanted.size(); ++k) check_input(wanted[k], syntax_.input_places[i][k], seen.insert(wanted[k]).second);
            auto input = data_.inputs.end();
            for (const std::string& field : wanted)
                if (input == data_.inputs.end()) input = std::ranges::find(data_.inputs, field, &NetworkInput::field);
            NamedValue named;
            if (input == data_.inputs.end()) {
                expansion_.report({syntax_.input_places[i].front(), data_.inputs.empty() ? msg("The data have no {}.", wanted.front())
                                                       : msg("The data have no {}. They have: {}.", wanted.front(), join(data_.inputs, ", ", &NetworkInput::field)), {}});
                for (const std::string& other : wanted) expansion_.set_name(names, other, named);
            } else {
                named.value = builder_.add_input(data_, static_cast<std::size_t>(input - data_.inputs.begin()));
                expansion_.set_name(names, input->field, named);
            }
            if (i == 0) first = named;
        }
        if (syntax_.inputs.empty()) names.set_incomplete();
        return first;
    }

    void check_input(const std::string& name, TextPlace place, bool is_new) {
        static const std::vector<std::string> fields = {"image", "features", "tokens", "indices"};
        if (std::ranges::find(fields, name) == fields.end()) {
            const std::string near = nearest_name(name, fields);
            expansion_.report(near.empty() ? Failure{place, msg("{}: there is no such input. Use {}.", name, join(fields)), {}}
                                           : Failure{place, msg("{}: there is no such input. Did you mean {}?", name, near), near});
        } else if (!is_new) {
            expansion_.report({place, msg("{}: this input comes twice.", name), {}});
        }
    }

    // Bodies.

    NamedValue run(const std::vector<Statement>& body, Frame& frame) override { return run_body(body, frame).front(); }

    /// The values that the body ends with: several with `output` in the network's alone.
    std::vector<NamedValue> run_body(const std::vector<Statement>& body, Frame& frame, bool whole_network = false) {
        for (const Statement& statement : body) {
            count_statement(statement);
            std::string label;
            try {
                if (statement.kind == Statement::Kind::bad) {
                    frame.names->set_incomplete();
                    frame.variables->set_incomplete();
                    frame.current = {};
                } else if (statement.kind == Statement::Kind::output) {
                    std::vector<NamedValue> outputs;
                    for (const Label& value : statement.from) outputs.push_back(expansion_.value(value, frame));
                    if (outputs.size() > 1 && !whole_network)
                        fail(statement.place, msg("output names one value; only that of the network may name several."));
                    return outputs;
                } else {
                    if (statement.label) label = expansion_.text(*statement.label, frame);
                    run_statement(statement, label, frame);
                }
            } catch (const Failure& failure) {
                expansion_.report(failure);
                set_unknown(statement, label, frame);
            } catch (const Unknown&) {
                set_unknown(statement, label, frame);
            }
        }
        return {frame.current};
    }

    void set_unknown(const Statement& statement, const std::string& label, Frame& frame) {
        if (statement.kind == Statement::Kind::let) return expansion_.set_variable(*frame.variables, statement.name, {});
        if (!label.empty()) expansion_.set_name(*frame.names, label, {});
        if (statement.label && label.empty()) frame.names->set_incomplete();
        if (!statement.name.empty()) expansion_.set_name(*frame.names, statement.name, {});
        frame.current = {};
    }

    /// A line with many values is as much work as many lines.
    void count_statement(const Statement& statement) {
        visited_ += 1 + static_cast<std::int64_t>(statement.from.size());
        if (visited_ > Limits::statements)
            throw Overrun{{statement.place, msg("The text runs more than {} lines; this is where it stops.", Limits::statements), {}}};
    }

    void run_statement(const Statement& statement, const std::string& label, Frame& frame) {
        const FrameView view(expansion_, frame);
        if (statement.kind == Statement::Kind::let)
            return expansion_.set_variable(*frame.variables, statement.name, expansion_.evaluator().evaluate(*statement.value, view));
        if (statement.kind == Statement::Kind::repeat) return repeat(statement, label, frame);
        std::vector<NamedValue> inputs;
        for (const Label& value : statement.from) inputs.push_back(expansion_.value(value, frame));
        if (statement.from.empty()) inputs.push_back(frame.current);
        if (statement.condition && !expansion_.evaluator().truth(*statement.condition, view)) return leave_out(statement, label, inputs, frame);
        NamedValue result;
        if (statement.kind == Statement::Kind::pass)
            result = only(inputs, statement);
        else if (statement.kind == Statement::Kind::container)
            result = calls_->container(statement, label, only(inputs, statement), frame);
        else
            result = calls_->layer(statement, label, std::move(inputs), frame);
        frame.current = result;
        if (!label.empty()) expansion_.set_name(*frame.names, label, result);
        if (!statement.name.empty()) {
            result.module = -1;
            expansion_.set_name(*frame.names, statement.name, result);
            builder_.name_value(result.value, statement.name);
        }
        end_after_stages(label, frame);
    }

    /// The value of a line that takes one.
    static NamedValue only(const std::vector<NamedValue>& inputs, const Statement& statement) {
        if (inputs.size() != 1) fail(statement.place, msg("This line takes one value."));
        NamedValue value = inputs.front();
        value.module = -1;
        return value;
    }

    /// A line whose `if` is false: its value is its input.
    void leave_out(const Statement& statement, const std::string& label, const std::vector<NamedValue>& inputs, Frame& frame) {
        const NamedValue passed{inputs.front().value, -1, {}};
        frame.current = passed;
        if (!statement.name.empty()) expansion_.set_name(*frame.names, statement.name, passed);
        if (label.empty()) return;
        // Another line may have this label, and be there already.
        if (const auto named = calls_->left_out(statement, frame.prefix + label, passed.value)) expansion_.set_name(*frame.names, label, *named);
    }

    // Repeats.

    ValueList repeated(const Statement& statement, const Frame& frame) {
        const FrameView view(expansion_, frame);
        Evaluator& evaluator = expansion_.evaluator();
        const auto counted = [&](std::int64_t from, std::int64_t to) {
            if (to - from >= Limits::repeats)
                fail(statement.value->place, msg("repeat {}: at most {} times.", to - from + 1, Limits::repeats));
            ValueList items;
            for (std::int64_t i = from; i <= to; ++i) items.push_back({i});
            return items;
        };
        if (statement.last) return counted(evaluator.whole(*statement.value, view), evaluator.whole(*statement.last, view));
        if (statement.each.empty()) {
            const std::int64_t count = evaluator.whole(*statement.value, view);
            if (count < 0) fail(statement.value->place, msg("repeat {}: a number of times is 0 or more.", count));
            return counted(1, count);
        }
        const Value value = evaluator.evaluate(*statement.value, view);
        const auto* list = value.as<ValueList>();
        if (list == nullptr) fail(statement.value->place, msg("repeat: {} is not a list.", brief(value)));
        if (list->size() > static_cast<std::size_t>(Limits::repeats))
            fail(statement.value->place, msg("repeat {}: at most {} times.", list->size(), Limits::repeats));
        return *list;
    }

    void set_items(const Statement& statement, const Value& item, std::size_t run, Variables& variables) {
        if (!statement.takes_apart) {
            if (!statement.each.empty()) expansion_.set_variable(variables, statement.each.front(), item);
        } else {
            const auto* items = item.as<ValueList>();
            if (items == nullptr || items->size() != statement.each.size())
                fail(statement.value->place, msg("{} does not part into {} names.", brief(item), statement.each.size()));
            for (std::size_t i = 0; i < items->size(); ++i) expansion_.set_variable(variables, statement.each[i], (*items)[i]);
        }
        if (!statement.index.empty()) expansion_.set_variable(variables, statement.index, {static_cast<std::int64_t>(run)});
    }

    void repeat(const Statement& statement, const std::string& label, Frame& frame) {
        const ValueList items = repeated(statement, frame);
        if (!label.empty()) return repeat_container(statement, label, items, frame);
        const int line = statement.place.line;
        for (std::size_t run = 0; run < items.size(); ++run) {
            count_statement(statement);
            const GraphBuilder::Inside inside(builder_, {line, static_cast<int>(run), line}, items.size());
            Frame inner = frame;
            inner.variables = std::make_shared<Variables>(frame.variables, expansion_.clock());
            set_items(statement, items[run], run, *inner.variables);
            frame.current = run_body(statement.body, inner).front();
        }
    }

    /// A repeat with a label: one child a run for a single statement, else a container a run.
    void repeat_container(const Statement& statement, const std::string& label, const ValueList& items, Frame& frame) {
        const int line = statement.place.line;
        const std::string module = frame.prefix + label;
        calls_->take_name(module, statement);
        ++*frame.count;
        auto names = std::make_shared<Names>(frame.names, expansion_.clock());
        int count = 0;
        NamedValue current{frame.current.value, -1, {}};
        expansion_.set_name(*names, "in", current);
        const std::size_t body = builder_.begin_body({.module = module, .place = statement.place, .inputs = {current.value}});
        for (std::size_t run = 0; run < items.size(); ++run) {
            count_statement(statement);
            const GraphBuilder::Inside inside(builder_, {line, static_cast<int>(run), line}, items.size());
            Frame inner{std::make_shared<Variables>(frame.variables, expansion_.clock()), names, module + '.', current, &count, frame.block_limit};
            set_items(statement, items[run], run, *inner.variables);
            int own_count = 0;
            const bool single = statement.body.size() == 1;
            std::size_t inner_body = 0;
            if (!single) {
                inner_body = builder_.begin_body({.module = inner.prefix + std::to_string(run), .place = statement.place, .inputs = {current.value}});
                inner.names = std::make_shared<Names>(frame.names, expansion_.clock());
                expansion_.set_name(*inner.names, "in", current);
                inner.prefix += std::to_string(run) + '.';
                inner.count = &own_count;
            }
            current = {run_body(statement.body, inner).front().value, -1, {}};
            if (single) continue;
            builder_.end_body(inner_body, current.value);
            expansion_.set_name(*names, std::to_string(run), {current.value, -1, inner.names});
        }
        builder_.end_body(body, current.value);
        frame.current = {current.value, -1, names};
        expansion_.set_name(*frame.names, label, frame.current);
        end_after_stages(label, frame);
    }

    const NetworkSyntax& syntax_;
    const NetworkData& data_;
    NetworkGraph graph_;
    Expansion expansion_;
    GraphBuilder builder_;
    TextEnvironment* environment_ = nullptr;  // while run() runs
    ModuleCalls* calls_ = nullptr;
    const Names* stages_ = nullptr;  // of the body whose stages are taken; null: the end is
    std::int64_t visited_ = 0;
};

}  // namespace

NetworkGraph expand_network(const NetworkSyntax& syntax, const NetworkData& data, std::vector<NetworkFault>& faults) {
    return Expander(syntax, data, faults).run();
}

}  // namespace engine::network
