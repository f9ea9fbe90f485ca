#include "network/expand.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/near_name.h"
#include "network/arguments.h"
#include "network/scope.h"
#include "network/text_options.h"

namespace engine::network {
namespace {

struct NamedValue;
using Names = Scope<NamedValue>;
using Variables = Scope<Value>;

/// A value of the graph, or a module, under a name.
struct NamedValue {
    int value = -1;   ///< of the graph; -1: unknown
    int module = -1;  ///< of the expansion, to run it again; -1: none
    std::shared_ptr<const Names> inner{};  ///< names of a container
};

/// A layer, block or container that has been made, as it can run again.
struct Module {
    const Statement* statement = nullptr;
    std::string name{};
    bool own = true;  ///< a module of its own
    const LayerKind* kind = nullptr;
    LayerArguments arguments{};
    const BlockLine* block = nullptr;
    std::shared_ptr<Variables> variables{};  ///< parameters of a block; a container's surroundings
    std::shared_ptr<Names> names{};
    int time = 0;
    std::size_t block_limit = 0;
    bool left_out = false;
    int runs = 1;  ///< of one that is kept to run again
};

/// A body while it is run.
struct Frame {
    std::shared_ptr<Variables> variables;
    std::shared_ptr<Names> names;
    std::string prefix;
    NamedValue current;
    int* count;               ///< the next number of a layer without a name
    std::size_t block_limit;  ///< blocks above this one can be used
};

class Expander {
public:
    Expander(const NetworkSyntax& syntax, const NetworkData& data, std::vector<NetworkFault>& faults)
        : syntax_(syntax), data_(data), faults_(faults), evaluator_(faults) {
        for (std::size_t i = 0; i < syntax.blocks.size(); ++i) blocks_.emplace(syntax.blocks[i].name, i);
    }
    /// Names of a container hold those around it, which hold the container's.
    ~Expander() {
        for (const auto& each : holding_)
            if (const auto scope = each.lock()) scope->forget();
    }
    Expander(const Expander&) = delete;
    Expander& operator=(const Expander&) = delete;

    NetworkGraph run() {
        try {
            options_ = text_options(syntax_, faults_);
            base_ = std::make_shared<Variables>(nullptr, 0);
            if (syntax_.incomplete) base_->set_incomplete();
            set_options();
            check_inits();
            expand();
        } catch (const Overrun& overrun) {
            report(overrun.failure);
        }
        order_parameters(graph_);
        return std::move(graph_);
    }

private:
    /// The names that an expression sees.
    class View final : public Surroundings {
    public:
        View(const Expander& expander, const Frame& frame) : expander_(expander), frame_(frame) {}
        const Value* variable(std::string_view name) const override {
            return frame_.variables->find(std::string(name), expander_.clock_);
        }
        std::span<const std::string> choices_of(std::string_view name) const override {
            const auto found = expander_.choices_.find(name);
            return found == expander_.choices_.end() ? std::span<const std::string>() : found->second;
        }
        const TensorType* tensor(std::string_view path) const override {
            const auto found = expander_.find_value(*frame_.names, std::string(path));
            if (!found) return nullptr;
            if (found->value < 0) throw Unknown{};
            return &expander_.graph_.values[static_cast<std::size_t>(found->value)].type;
        }
        std::vector<std::string> known_names() const override {
            if (frame_.variables->is_incomplete() || frame_.names->is_incomplete()) throw Unknown{};
            std::vector<std::string> names;
            frame_.variables->add_names(names);
            return expander_.may_suggest(names.size()) ? names : std::vector<std::string>();
        }
        bool is_reported(const TextPlace& place) const override { return expander_.is_reported(place); }

    private:
        const Expander& expander_;
        const Frame& frame_;
    };

    // Faults.

    bool is_reported(const TextPlace& place) const {
        return faulty_lines_.contains(again_ != nullptr ? again_->place.line : place.line);
    }

    /// A long text with many faults gets no suggestions any more.
    bool may_suggest(std::size_t names) const {
        constexpr std::size_t most = 100'000;
        return (suggested_ += names) <= most;
    }

    void report(const Failure& failure) {
        const TextPlace place = again_ != nullptr ? again_->place : failure.place;
        if (!faulty_lines_.insert(place.line).second) return;
        faults_.push_back({place, failure.text, again_ != nullptr ? std::nullopt : failure.replacement});
    }

    static TextPlace head_of(const Statement& statement) { return statement.callee ? statement.callee->place : statement.place; }

    [[noreturn]] static void fail(TextPlace place, Message text) { throw Failure{place, std::move(text), {}}; }

    // The file's own lines.

    void set_options() {
        for (std::size_t i = 0; i < options_.size(); ++i) {
            const OptionSpec& spec = options_[i];
            OptionValue value = spec.default_value;
            if (const auto given = data_.options.find(spec.name); given != data_.options.end()) {
                if (const Message wrong = check_option(spec, given->second); !wrong.empty())
                    report({syntax_.options[i].place, msg("The option {} is set to {}.", spec.name, engine::to_string(given->second)), {}});
                else if (OptionValue read = typed(spec, given->second); !is_in_range(read))
                    report({syntax_.options[i].place, msg("The option {} is set to {}, which is out of range.", spec.name, engine::to_string(given->second)), {}});
                else
                    value = std::move(read);
            }
            set_variable(*base_, spec.name, from_option(value));
            auto& words = choices_[spec.name];
            for (const FieldChoice& choice : spec.choices) words.push_back(choice.value);
        }
        set_variable(*base_, "outputs", {data_.outputs});
    }

    static bool is_in_range(const OptionValue& value) {
        const auto fits = [](std::int64_t each) { return each < size_limit && each > -size_limit; };
        if (const auto* whole = std::get_if<std::int64_t>(&value)) return fits(*whole);
        if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number);
        const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
        return list == nullptr || std::ranges::all_of(*list, fits);
    }

    /// The value in the option's type.
    static OptionValue typed(const OptionSpec& spec, const OptionValue& value) {
        const TypedOptions options({{spec.name, value}}, std::span(&spec, 1));
        return std::visit([&](const auto& like) -> OptionValue {
            using Type = std::decay_t<decltype(like)>;
            if constexpr (std::is_same_v<Type, bool>) return options.flag(spec.name);
            else if constexpr (std::is_same_v<Type, std::int64_t>) return options.integer(spec.name);
            else if constexpr (std::is_same_v<Type, double>) return options.number(spec.name);
            else if constexpr (std::is_same_v<Type, std::string>) return options.word(spec.name);
            else if constexpr (std::is_same_v<Type, std::vector<std::int64_t>>) return options.integers(spec.name);
            else return options.words(spec.name);
        }, spec.default_value);
    }

    static Value from_option(const OptionValue& value) {
        return std::visit([](const auto& each) -> Value {
            if constexpr (requires { each.begin(); } && !std::is_same_v<std::decay_t<decltype(each)>, std::string>) {
                ValueList list;
                for (const auto& item : each) list.push_back({item});
                return {std::move(list)};
            } else {
                return {each};
            }
        }, value);
    }

    void check_inits() {
        for (const InitLine& line : syntax_.inits) {
            const LayerKind* kind = find_layer_kind(line.kind);
            if (kind == nullptr) {
                report({line.place, unknown_layer(line.kind, nearest_layer_kind(line.kind)), {}});
            } else if (!kind->weighted || (!kind->roles.empty() && std::ranges::find(kind->roles, line.parameter) == kind->roles.end())) {
                report({line.place, msg("{} has no parameter {}.", line.kind, line.parameter), {}});
            } else {
                try {
                    Frame frame{base_, std::make_shared<Names>(nullptr, 0), {}, {}, nullptr, 0};
                    const Value value = evaluator_.evaluate(line.value, View(*this, frame), initial_rules());
                    inits_[line.kind + '.' + line.parameter] = read_initial(value, line.value.place);
                } catch (const Failure& failure) {
                    report(failure);
                } catch (const Unknown&) {
                }
            }
        }
        std::set<std::string> names;
        for (const BlockLine& block : syntax_.blocks)
            if (!block.name.empty() && !names.insert(block.name).second)
                report({block.place, msg("{}: there is a block of this name above.", block.name), {}});
    }

    void expand() {
        if (syntax_.body.empty()) return;
        auto names = std::make_shared<Names>(nullptr, 0);
        NamedValue first;
        bool is_first = true;
        for (const auto& wanted : syntax_.inputs) {
            auto input = data_.inputs.end();
            for (const std::string& field : wanted)
                if (input == data_.inputs.end()) input = std::ranges::find(data_.inputs, field, &NetworkInput::field);
            NamedValue named;
            std::string name = wanted.front();
            if (input == data_.inputs.end()) {
                std::string listed;
                for (const NetworkInput& each : data_.inputs) listed += (listed.empty() ? "" : ", ") + each.field;
                report({syntax_.network, msg("The data have no {}. They have: {}.", wanted.front(), listed), {}});
                for (const std::string& other : wanted) set_name(*names, other, named);
            } else {
                name = input->field;
                named.value = add_input(*input);
                set_name(*names, name, named);
            }
            if (is_first) first = named;
            is_first = false;
        }
        if (syntax_.inputs.empty()) names->set_incomplete();
        set_name(*names, "in", first);
        int count = 0;
        Frame frame{std::make_shared<Variables>(base_, clock_), names, {}, first, &count, syntax_.blocks.size()};
        const std::vector<NamedValue> outputs = run_body(syntax_.body, frame, true);
        for (const NamedValue& output : outputs)
            if (output.value >= 0) graph_.outputs.push_back(output.value);
        if (graph_.outputs.size() != outputs.size()) return;
        if (auto failure = check_outputs(graph_, syntax_, data_)) report(*failure);
    }

    int add_input(const NetworkInput& input) {
        TensorType type{{batch_size}, input.field == "tokens" || input.field == "indices", input.counts};
        if (input.field == "tokens") type.sizes.push_back(window_size);
        for (const std::int64_t size : input.sizes) type.sizes.push_back({size, Size::Symbol::none});
        graph_.values.push_back({std::move(type), -1, {}, input.field});
        graph_.inputs.push_back(static_cast<int>(graph_.values.size()) - 1);
        graph_.fields.push_back(static_cast<int>(&input - data_.inputs.data()));
        return graph_.inputs.back();
    }

    // Names.

    void set_variable(Variables& scope, const std::string& name, Value value) { scope.set(name, std::move(value), ++clock_); }
    void set_name(Names& scope, const std::string& name, NamedValue value) {
        if (value.inner) holding_.push_back(scope.weak_from_this());
        scope.set(name, std::move(value), ++clock_);
    }

    std::optional<NamedValue> find_value(const Names& names, const std::string& path) const {
        if (const NamedValue* found = names.find(path, clock_)) return *found;
        for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1))
            if (const NamedValue* found = names.find(path.substr(0, dot), clock_))
                if (const auto inside = find_inside(*found, path.substr(dot + 1))) return inside;
        return {};
    }

    std::optional<NamedValue> find_inside(const NamedValue& outer, const std::string& path) const {
        if (outer.value >= 0) {
            const int node = graph_.values[static_cast<std::size_t>(outer.value)].node;
            if (node >= 0)
                for (const int output : graph_.nodes[static_cast<std::size_t>(node)].outputs)
                    if (graph_.values[static_cast<std::size_t>(output)].role == path) return NamedValue{output, -1, {}};
        }
        if (!outer.inner) return {};
        if (const NamedValue* found = outer.inner->find_own(path, clock_)) return *found;
        for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1))
            if (const NamedValue* found = outer.inner->find_own(path.substr(0, dot), clock_))
                if (const auto inside = find_inside(*found, path.substr(dot + 1))) return inside;
        return {};
    }

    std::string text(const Label& label, const Frame& frame) {
        if (!label.fixed().empty()) return std::string(label.fixed());
        std::string out;
        for (const Label::Piece& piece : label.pieces) {
            if (!piece.computed) {
                out += piece.text;
                continue;
            }
            const Value value = evaluator_.evaluate(*piece.computed, View(*this, frame));
            if (value.as<std::int64_t>() == nullptr && value.as<std::string>() == nullptr)
                fail(label.place, msg("{} in a name: a whole number or a word fits here.", to_string(value)));
            out += to_string(value);
        }
        return out;
    }

    NamedValue value_of(const Label& label, const Frame& frame) {
        const std::string name = text(label, frame);
        if (name == "above") return frame.current;
        if (const auto found = find_value(*frame.names, name)) return *found;
        if (frame.names->is_incomplete() || is_reported(label.place)) throw Unknown{};
        std::vector<std::string> known;
        frame.names->add_names(known);
        const std::string near = may_suggest(known.size()) ? nearest_name(name, known) : std::string();
        if (near.empty()) fail(label.place, msg("{}: there is no such layer or value here.", name));
        throw Failure{label.place, msg("{}: there is no such layer or value here. Did you mean {}?", name, near), near};
    }

    /// Takes the full name of a module or parameter.
    void take_name(const std::string& name, const Statement& statement) {
        if (name.size() > Limits::full_name || name.size() - (name.rfind('.') + 1) > Limits::label)
            fail(statement.place, msg("A name has at most {} characters, and {} with those of the modules around it.", Limits::label, Limits::full_name));
        if (sharing_ > 0) return;
        const auto [found, added] = taken_.emplace(name, statement.place.line);
        if (added) return;
        const std::string own = name.substr(name.rfind('.') + 1);
        const TextPlace place = statement.label ? statement.label->place : statement.place;
        if (found->second == statement.place.line)
            fail(place, msg("{}: this line makes {} twice. Use the number of the repeat in its name: {}{}.", own, name, own, "{i}"));
        fail(place, msg("{}: line {} has this name, and it would be {} twice. To use the same weights again write \"x = {} from ...\".", own, found->second, name, own));
    }

    // Bodies.

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
                    for (const Label& value : statement.from) outputs.push_back(value_of(value, frame));
                    if (outputs.size() > 1 && !whole_network)
                        fail(statement.place, msg("output names one value; only that of the network may name several."));
                    return outputs;
                } else {
                    if (statement.label) label = text(*statement.label, frame);
                    run_statement(statement, label, frame);
                }
            } catch (const Failure& failure) {
                report(failure);
                set_unknown(statement, label, frame);
            } catch (const Unknown&) {
                set_unknown(statement, label, frame);
            }
        }
        return {frame.current};
    }

    void set_unknown(const Statement& statement, const std::string& label, Frame& frame) {
        if (statement.kind == Statement::Kind::let) return set_variable(*frame.variables, statement.name, {});
        if (!label.empty()) set_name(*frame.names, label, {});
        if (statement.label && label.empty()) frame.names->set_incomplete();
        if (!statement.name.empty()) set_name(*frame.names, statement.name, {});
        frame.current = {};
    }

    /// A line with many values is as much work as many lines.
    void count_statement(const Statement& statement) {
        visited_ += 1 + static_cast<std::int64_t>(statement.from.size());
        if (visited_ > Limits::statements)
            throw Overrun{{statement.place, msg("The text runs more than {} lines; this is where it stops.", Limits::statements), {}}};
    }

    void run_statement(const Statement& statement, const std::string& label, Frame& frame) {
        if (statement.kind == Statement::Kind::let)
            return set_variable(*frame.variables, statement.name, evaluator_.evaluate(*statement.value, View(*this, frame)));
        if (statement.kind == Statement::Kind::repeat) return repeat(statement, label, frame);
        std::vector<NamedValue> inputs;
        for (const Label& value : statement.from) inputs.push_back(value_of(value, frame));
        if (statement.from.empty()) inputs.push_back(frame.current);
        if (statement.condition && !evaluator_.truth(*statement.condition, View(*this, frame)))
            return leave_out(statement, label, inputs, frame);
        NamedValue result;
        if (statement.kind == Statement::Kind::pass)
            result = only(inputs, statement);
        else if (statement.kind == Statement::Kind::container)
            result = container(statement, label, only(inputs, statement), frame);
        else
            result = layer(statement, label, std::move(inputs), frame);
        frame.current = result;
        if (!label.empty()) set_name(*frame.names, label, result);
        if (!statement.name.empty()) {
            result.module = -1;
            set_name(*frame.names, statement.name, result);
            if (result.value >= 0 && graph_.values[static_cast<std::size_t>(result.value)].name.empty())
                graph_.values[static_cast<std::size_t>(result.value)].name = statement.name;
        }
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
        NamedValue passed{inputs.front().value, -1, {}};
        frame.current = passed;
        if (!statement.name.empty()) set_name(*frame.names, statement.name, passed);
        // Another line may have this label, and be there already.
        if (label.empty() || taken_.contains(frame.prefix + label)) return;
        modules_.push_back({.statement = &statement, .left_out = true});
        passed.module = static_cast<int>(modules_.size()) - 1;
        set_name(*frame.names, label, passed);
    }

    ValueList repeated(const Statement& statement, const Frame& frame) {
        const View view(*this, frame);
        const auto counted = [&](std::int64_t from, std::int64_t to) {
            if (to - from >= Limits::repeats)
                fail(statement.value->place, msg("repeat {}: at most {} times.", to - from + 1, Limits::repeats));
            ValueList items;
            for (std::int64_t i = from; i <= to; ++i) items.push_back({i});
            return items;
        };
        if (statement.last) return counted(evaluator_.whole(*statement.value, view), evaluator_.whole(*statement.last, view));
        if (statement.each.empty()) {
            const std::int64_t count = evaluator_.whole(*statement.value, view);
            if (count < 0) fail(statement.value->place, msg("repeat {}: a number of times is 0 or more.", count));
            return counted(1, count);
        }
        const Value value = evaluator_.evaluate(*statement.value, view);
        const auto* list = value.as<ValueList>();
        if (list == nullptr) fail(statement.value->place, msg("repeat: {} is no list.", to_string(value)));
        if (list->size() > static_cast<std::size_t>(Limits::repeats))
            fail(statement.value->place, msg("repeat {}: at most {} times.", list->size(), Limits::repeats));
        return *list;
    }

    void set_items(const Statement& statement, const Value& item, std::size_t run, Variables& variables) {
        if (!statement.takes_apart) {
            if (!statement.each.empty()) set_variable(variables, statement.each.front(), item);
        } else {
            const auto* items = item.as<ValueList>();
            if (items == nullptr || items->size() != statement.each.size())
                fail(statement.value->place, msg("{} does not part into {} names.", to_string(item), statement.each.size()));
            for (std::size_t i = 0; i < items->size(); ++i) set_variable(variables, statement.each[i], (*items)[i]);
        }
        if (!statement.index.empty()) set_variable(variables, statement.index, {static_cast<std::int64_t>(run)});
    }

    void repeat(const Statement& statement, const std::string& label, Frame& frame) {
        const ValueList items = repeated(statement, frame);
        const int line = statement.place.line;
        if (label.empty()) {
            for (std::size_t run = 0; run < items.size(); ++run) {
                count_statement(statement);
                const Inside inside(*this, {line, static_cast<int>(run), line});
                Frame inner = frame;
                inner.variables = std::make_shared<Variables>(frame.variables, clock_);
                set_items(statement, items[run], run, *inner.variables);
                frame.current = run_body(statement.body, inner).front();
            }
            return;
        }
        const std::string module = frame.prefix + label;
        take_name(module, statement);
        ++*frame.count;
        auto names = std::make_shared<Names>(frame.names, clock_);
        int count = 0;
        NamedValue current = frame.current;
        set_name(*names, "in", current);
        const std::size_t body = begin_body({.module = module, .place = statement.place, .inputs = {current.value}});
        for (std::size_t run = 0; run < items.size(); ++run) {
            count_statement(statement);
            const Inside inside(*this, {line, static_cast<int>(run), line});
            Frame inner{std::make_shared<Variables>(frame.variables, clock_), names, module + '.', current, &count, frame.block_limit};
            set_items(statement, items[run], run, *inner.variables);
            int own_count = 0;
            const bool single = statement.body.size() == 1;
            std::size_t inner_body = 0;
            if (!single) {
                inner_body = begin_body({.module = inner.prefix + std::to_string(run), .place = statement.place, .inputs = {current.value}});
                inner.names = std::make_shared<Names>(frame.names, clock_);
                set_name(*inner.names, "in", current);
                inner.prefix += std::to_string(run) + '.';
                inner.count = &own_count;
            }
            current = run_body(statement.body, inner).front();
            if (single) continue;
            end_body(inner_body, current.value);
            set_name(*names, std::to_string(run), {current.value, -1, inner.names});
        }
        end_body(body, current.value);
        frame.current = {current.value, -1, names};
        set_name(*frame.names, label, frame.current);
    }

    // Modules.

    NamedValue container(const Statement& statement, const std::string& label, const NamedValue& input, Frame& frame) {
        take_name(frame.prefix + label, statement);
        ++*frame.count;
        const Inside inside(*this, {statement.place.line, 0, statement.place.line});
        return first_run({.statement = &statement, .name = frame.prefix + label, .variables = frame.variables, .names = frame.names, .time = clock_, .block_limit = frame.block_limit}, {input}, true);
    }

    /// Keeps a module with a label, so that it can run again.
    NamedValue first_run(Module module, const std::vector<NamedValue>& inputs, bool has_label) {
        NamedValue result = run_module(module, inputs);
        if (!has_label) return result;
        modules_.push_back(std::move(module));
        result.module = static_cast<int>(modules_.size()) - 1;
        return result;
    }

    NamedValue layer(const Statement& statement, const std::string& label, std::vector<NamedValue> inputs, Frame& frame) {
        const std::string callee = text(*statement.callee, frame);
        const auto found_block = blocks_.find(callee);
        const bool is_block = found_block != blocks_.end();
        const BlockLine* block = is_block ? &syntax_.blocks[found_block->second] : nullptr;
        const LayerKind* kind = find_layer_kind(callee);
        if (!is_block && kind == nullptr) return again(callee, statement, label, inputs, frame);
        if (is_block && found_block->second >= frame.block_limit) {
            if (block->name == callee && frame.block_limit < syntax_.blocks.size())
                fail(head_of(statement), msg("{}: a block sees those above it. Move {} above this one.", callee, callee));
        }
        Module module{.statement = &statement, .time = clock_};
        if (is_block) {
            module.block = block;
            module.block_limit = found_block->second;
            module.variables = block_variables(*block, statement, frame);
            const std::size_t wanted = std::max<std::size_t>(1, block->inputs.size());
            if (inputs.size() != wanted) fail(head_of(statement), msg("{} takes {} values, not {}.", callee, wanted, inputs.size()));
        } else {
            module.kind = kind;
            module.arguments = bind_arguments(*kind, statement, evaluator_, View(*this, frame));
        }
        name_module(module, statement, label, frame);
        if (!is_block && kind->fewest_inputs == 0) {
            if (!statement.from.empty()) fail(head_of(statement), msg("{} takes no value.", callee));
            inputs.clear();
        }
        if (!is_block) check_input_count(*kind, inputs.size(), statement);
        std::optional<Inside> inside;
        if (is_block) inside.emplace(*this, NetworkHead{block->place.line, uses_[found_block->second]++, statement.place.line});
        return first_run(std::move(module), inputs, !label.empty());
    }

    static void check_input_count(const LayerKind& kind, std::size_t count, const Statement& statement) {
        const int given = static_cast<int>(count);
        if (given >= kind.fewest_inputs && given <= kind.most_inputs) return;
        if (kind.most_inputs == many_inputs) fail(head_of(statement), msg("{} takes {} values or more: {} from above, x.", kind.name, kind.fewest_inputs, kind.name));
        if (kind.fewest_inputs == kind.most_inputs) fail(head_of(statement), msg("{} takes {} values, not {}.", kind.name, kind.fewest_inputs, given));
        fail(head_of(statement), msg("{} takes {} to {} values, not {}.", kind.name, kind.fewest_inputs, kind.most_inputs, given));
    }

    /// Gives the module its name; merges and lines "x = ..." have none (rules 2 to 4).
    void name_module(Module& module, const Statement& statement, const std::string& label, Frame& frame) {
        const std::string callee = module.kind != nullptr ? module.kind->name : module.block->name;
        const bool merges = module.kind != nullptr && module.kind->merges;
        const bool bare = module.kind != nullptr && module.kind->bare;
        const bool weighted = module.block != nullptr || module.kind->weighted || bare;
        if (!statement.name.empty() && weighted)
            fail(head_of(statement), msg("{} has parameters, so it needs a module's name: write \"{}: {}\".", callee, statement.name, callee));
        if (merges && statement.label) fail(statement.label->place, msg("{} is no module: write \"{} = {}\".", callee, label, callee));
        if ((bare || callee == "Positions") && !statement.label)
            fail(head_of(statement), msg("{} needs a name: \"name: {}(...)\".", callee, callee));
        module.own = !merges && !bare && statement.name.empty();
        if (module.own || bare) {
            module.name = frame.prefix + (label.empty() ? std::to_string(*frame.count) : label);
            take_name(module.name, statement);
        } else {
            module.name = frame.prefix.empty() ? std::string() : frame.prefix.substr(0, frame.prefix.size() - 1);
        }
        if (module.own) ++*frame.count;
    }

    NamedValue again(const std::string& callee, const Statement& statement, const std::string& label, const std::vector<NamedValue>& inputs, Frame& frame) {
        const auto found = find_value(*frame.names, callee);
        const TextPlace place = statement.callee->place;
        if (!found) {
            if (frame.names->is_incomplete() || base_->is_incomplete() || is_reported(place)) throw Unknown{};
            std::string near = nearest_layer_kind(callee);
            if (near.empty()) {
                std::vector<std::string> known;
                frame.names->add_names(known);
                for (const BlockLine& block : syntax_.blocks) known.push_back(block.name);
                if (may_suggest(known.size())) near = nearest_name(callee, known);
            }
            throw Failure{place, unknown_layer(callee, near), near.empty() ? std::nullopt : std::optional(near)};
        }
        if (found->module < 0) {
            if (found->value < 0) throw Unknown{};
            throw Failure{place, msg("{} is a value: write \"from {}\".", callee, callee), "from " + callee};
        }
        if (statement.has_arguments) fail(place, msg("{} runs again with the arguments that it has: write it without brackets.", callee));
        if (!label.empty()) fail(statement.label->place, msg("{} runs again, and has its name already: write \"{} = {}\".", callee, label, callee));
        Module& module = modules_[static_cast<std::size_t>(found->module)];
        if (module.left_out) return {inputs.front().value, -1, {}};
        if (module.kind != nullptr) {
            check_input_count(*module.kind, inputs.size(), statement);
        } else {
            const std::size_t wanted = module.block != nullptr ? std::max<std::size_t>(1, module.block->inputs.size()) : 1;
            if (inputs.size() != wanted) fail(place, msg("{} takes {} values, not {}.", callee, wanted, inputs.size()));
        }
        const SharedRun run(*this, statement);
        const bool block = module.block != nullptr;
        const Inside inside(*this, {block ? module.block->place.line : module.statement->place.line,
                                    block ? uses_[blocks_.at(module.block->name)]++ : module.runs++, statement.place.line});
        return run_module(Module(module), inputs);
    }

    /// While it lives, weights are those that exist, and faults stand at the line that runs them again.
    class SharedRun {
    public:
        SharedRun(Expander& expander, const Statement& statement) : expander_(expander), outer_(expander.again_) {
            if (outer_ == nullptr) expander.again_ = &statement;
            ++expander.sharing_;
        }
        ~SharedRun() {
            --expander_.sharing_;
            expander_.again_ = outer_;
        }
        SharedRun(const SharedRun&) = delete;
        SharedRun& operator=(const SharedRun&) = delete;

    private:
        Expander& expander_;
        const Statement* outer_;
    };

    /// The head of what is run while it lives.
    class Inside {
    public:
        Inside(Expander& expander, NetworkHead head) : expander_(expander) { expander.heads_.push_back(head); }
        ~Inside() { expander_.heads_.pop_back(); }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        Expander& expander_;
    };

    static Message unknown_layer(const std::string& name, const std::string& near) {
        return near.empty() ? msg("{}: there is no such layer.", name) : msg("{}: there is no such layer. Did you mean {}?", name, near);
    }

    std::shared_ptr<Variables> block_variables(const BlockLine& block, const Statement& statement, const Frame& frame) {
        auto variables = std::make_shared<Variables>(base_, clock_);
        std::vector<const Argument*> given(block.parameters.size(), nullptr);
        std::size_t unnamed = 0;
        for (const Argument& argument : statement.arguments) {
            std::size_t at = unnamed;
            if (argument.name.empty()) {
                ++unnamed;
            } else {
                const auto found = std::ranges::find(block.parameters, argument.name, &BlockLine::Parameter::name);
                if (found == block.parameters.end()) fail(argument.place, msg("{} has no argument {}.", block.name, argument.name));
                at = static_cast<std::size_t>(found - block.parameters.begin());
            }
            if (at >= given.size()) fail(argument.place, msg("{} takes {} arguments.", block.name, given.size()));
            if (given[at] != nullptr) fail(argument.place, msg("{} is given twice.", block.parameters[at].name));
            given[at] = &argument;
        }
        const Frame own{variables, std::make_shared<Names>(nullptr, 0), {}, {}, nullptr, 0};
        for (std::size_t i = 0; i < given.size(); ++i) {
            const BlockLine::Parameter& parameter = block.parameters[i];
            if (given[i] == nullptr && !parameter.default_value) fail(head_of(statement), msg("{}: {} is missing.", block.name, parameter.name));
            Value value = given[i] != nullptr ? evaluator_.evaluate(given[i]->value, View(*this, frame))
                                              : evaluator_.evaluate(*parameter.default_value, View(*this, own));
            set_variable(*variables, parameter.name, std::move(value));
        }
        return variables;
    }

    /// `module` is none of modules_, which may grow meanwhile.
    NamedValue run_module(const Module& module, const std::vector<NamedValue>& inputs) {
        if (module.kind != nullptr) return run_layer(module, inputs);
        std::shared_ptr<Names> names;
        if (module.block != nullptr) {
            names = std::make_shared<Names>(nullptr, 0);
            if (module.block->inputs.empty()) set_name(*names, "in", plain(inputs.front()));
            for (std::size_t i = 0; i < module.block->inputs.size(); ++i) set_name(*names, module.block->inputs[i], plain(inputs[i]));
        } else {
            names = std::make_shared<Names>(module.names, module.time);
            set_name(*names, "in", plain(inputs.front()));
        }
        auto variables = std::make_shared<Variables>(module.variables, module.block != nullptr ? clock_ : module.time);
        int count = 0;
        Frame frame{variables, names, module.name + '.', plain(inputs.front()), &count, module.block_limit};
        const auto& body = module.block != nullptr ? module.block->body : module.statement->body;
        GraphBody begun{.module = module.name, .place = module.statement->place};
        for (const NamedValue& input : inputs) begun.inputs.push_back(input.value);
        if (module.block != nullptr) {
            begun.block = module.block->name;
            begun.input_names = module.block->inputs;
        }
        const std::size_t index = begin_body(std::move(begun));
        const int output = run_body(body, frame).front().value;
        end_body(index, output);
        return {output, -1, names};
    }

    std::size_t begin_body(GraphBody body) {
        body.first = static_cast<int>(graph_.nodes.size());
        body.again = sharing_ > 0;
        graph_.bodies.push_back(std::move(body));
        return graph_.bodies.size() - 1;
    }

    void end_body(std::size_t index, int output) {
        graph_.bodies[index].end = static_cast<int>(graph_.nodes.size());
        graph_.bodies[index].output = output;
    }

    static NamedValue plain(NamedValue value) {
        value.module = -1;
        return value;
    }

    // Layers.

    NamedValue run_layer(const Module& module, const std::vector<NamedValue>& inputs) {
        const Statement& statement = *module.statement;
        for (const NamedValue& input : inputs)
            if (input.value < 0) return {};
        LayerCall call{*module.kind, module.arguments};
        call.place = head_of(statement);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            call.inputs.push_back(graph_.values[static_cast<std::size_t>(inputs[i].value)].type);
            const std::string_view name = i < statement.from.size() ? statement.from[i].fixed() : std::string_view();
            call.input_names.emplace_back(name.empty() ? "value " + std::to_string(i + 1) : std::string(name));
        }
        GraphNode node{.kind = module.kind, .arguments = module.arguments, .module = module.name, .own_module = module.own, .labelled = statement.label.has_value(), .place = call.place, .heads = heads_};
        const int tied = find_tied(module, call);
        module.kind->shape(call);
        parameter_uses_ += static_cast<std::int64_t>(call.parameters.size());
        if (parameter_uses_ > Limits::parameters)
            throw Overrun{{statement.place, msg("The layers have more than {} tensors of weights here.", Limits::parameters), {}}};
        if (graph_.nodes.size() >= static_cast<std::size_t>(Limits::layers))
            throw Overrun{{statement.place, msg("The network grows beyond {} layers here.", Limits::layers), {}}};
        const int index = static_cast<int>(graph_.nodes.size());
        if (tied >= 0) node.parameters.push_back(tied);
        for (LayerParameter& parameter : call.parameters) node.parameters.push_back(parameter_index(module, parameter, call, index));
        for (const NamedValue& input : inputs) node.inputs.push_back(input.value);
        for (std::size_t i = 0; i < call.outputs.size(); ++i) {
            node.outputs.push_back(static_cast<int>(graph_.values.size()));
            graph_.values.push_back({std::move(call.outputs[i]), index, call.output_roles[i], {}});
        }
        node.flops = call.flops;
        graph_.nodes.push_back(std::move(node));
        return {graph_.nodes.back().outputs.front(), -1, {}};
    }

    /// The parameter that `weight=` names; -1: none.
    int find_tied(const Module& module, LayerCall& call) {
        const auto given = module.arguments.all.find("weight");
        if (given == module.arguments.all.end() || given->second.is_default) return -1;
        const std::string& path = given->second.reference;
        // A name is seen from the layer's own module outwards.
        std::string around = module.name;
        while (true) {
            const std::size_t dot = around.rfind('.');
            around = dot == around.npos ? std::string() : around.substr(0, dot);
            const auto found = parameter_indices_.find(around.empty() ? path : around + '.' + path);
            if (found != parameter_indices_.end()) {
                const GraphParameter& parameter = graph_.parameters[static_cast<std::size_t>(found->second)];
                call.tied = parameter.name;
                for (const std::int64_t size : parameter.sizes) call.tied_sizes.push_back({size, Size::Symbol::none});
                return found->second;
            }
            if (around.empty()) break;
        }
        call.fail(msg("{}: there is no such parameter above.", path));
    }

    int parameter_index(const Module& module, LayerParameter& parameter, const LayerCall& call, int node) {
        const std::string name = parameter.role.empty() ? module.name : module.name + '.' + parameter.role;
        GraphParameter made{name, {}, std::move(parameter.initial), parameter.fixed, node};
        for (const Size& size : parameter.sizes) made.sizes.push_back(size.number);
        if (const auto found = parameter_indices_.find(name); found != parameter_indices_.end()) {
            const GraphParameter& first = graph_.parameters[static_cast<std::size_t>(found->second)];
            if (first.sizes != made.sizes) {
                Sizes sizes;
                for (const std::int64_t size : first.sizes) sizes.push_back({size, Size::Symbol::none});
                call.fail(msg("{} is {}; here it would be {}.", name, to_string(sizes), to_string(parameter.sizes)));
            }
            return found->second;
        }
        const bool weight = parameter.role.empty() || parameter.role == "weight";
        const auto own = module.arguments.all.find(weight ? "init" : parameter.role == "bias" ? "bias_init" : "");
        const auto line = inits_.find(module.kind->name + '.' + (weight ? "weight" : parameter.role));
        if (own != module.arguments.all.end() && !own->second.is_default)
            made.initial = own->second.initial;
        else if (line != inits_.end())
            made.initial = line->second;
        graph_.parameters.push_back(std::move(made));
        return parameter_indices_[name] = static_cast<int>(graph_.parameters.size()) - 1;
    }

    const NetworkSyntax& syntax_;
    const NetworkData& data_;
    std::vector<NetworkFault>& faults_;
    Evaluator evaluator_;
    NetworkGraph graph_;
    std::vector<OptionSpec> options_;
    std::map<std::string, std::vector<std::string>, std::less<>> choices_;
    std::shared_ptr<Variables> base_;
    std::map<std::string, InitialRule> inits_;
    std::vector<Module> modules_;
    std::vector<std::weak_ptr<Names>> holding_;               // names with those of a container
    std::unordered_map<std::string, std::size_t> blocks_;     // places in the syntax, by name
    std::unordered_map<std::string, int> taken_;              // names of modules, with their lines
    std::unordered_map<std::string, int> parameter_indices_;  // by name
    std::set<int> faulty_lines_;
    std::vector<NetworkHead> heads_;     // of what is run now
    std::map<std::size_t, int> uses_;    // of blocks, by their place in the syntax
    const Statement* again_ = nullptr;  // the line that runs a module again
    int sharing_ = 0;
    int clock_ = 0;
    std::int64_t visited_ = 0, parameter_uses_ = 0;
    mutable std::size_t suggested_ = 0;
};

}  // namespace

NetworkGraph expand_network(const NetworkSyntax& syntax, const NetworkData& data, std::vector<NetworkFault>& faults) {
    return Expander(syntax, data, faults).run();
}

}  // namespace engine::network
