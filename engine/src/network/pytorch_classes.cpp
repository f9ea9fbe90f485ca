#include "network/pytorch_classes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "engine/base/error.h"
#include "network/module_path.h"

namespace engine::network {
namespace {

/// Something that a body uses: a value of the graph, or a module or tensor with its full name.
struct Reference {
    int value = -1;
    std::string module{};
    bool is_tensor = false;

    friend auto operator<=>(const Reference&, const Reference&) = default;
};

/// A body of the graph with what stands in it. The first one is the network's.
struct BodyPlace {
    const GraphBody* body = nullptr;
    std::string module{};
    int first = 0, end = 0;
    std::vector<int> inner{};  ///< bodies
    std::string group{};       ///< bodies that can be of one class have the same
};

/// A body as a class of its own.
struct Form {
    PythonClass made{};
    std::vector<Reference> needs{};  ///< inputs of the class
    std::vector<int> gives{};        ///< its results, as values of the graph
    bool is_chain = false;
};

bool is_number(std::string_view name) { return !name.empty() && std::ranges::all_of(name, is_digit); }

void replace(Python& expression, const std::string& from, const std::string& to) {
    for (std::size_t at = expression.text.find(from); at != std::string::npos; at = expression.text.find(from, at + to.size()))
        expression.text.replace(at, from.size(), to);
    for (Python& item : expression.items) replace(item, from, to);
}

bool are_alike(const Python& a, const Python& b) {
    if (a.slot != b.slot || a.open != b.open || a.keyword != b.keyword || (a.slot.empty() && a.text != b.text)) return false;
    return std::ranges::equal(a.items, b.items, are_alike);
}

bool are_alike(const std::optional<Python>& a, const std::optional<Python>& b) {
    return a.has_value() == b.has_value() && (!a || are_alike(*a, *b));
}

bool are_alike(const PythonStep& a, const PythonStep& b) {
    const bool same_name = a.function.has_value() || a.module == b.module;
    return same_name && a.makes == b.makes && a.tensor == b.tensor && a.fixed == b.fixed && a.gives_pair == b.gives_pair &&
           a.further == b.further && a.inputs.size() == b.inputs.size() && a.outputs.size() == b.outputs.size() &&
           are_alike(a.constructor, b.constructor) && are_alike(a.code, b.code) && are_alike(a.function, b.function);
}

/// Which step of `other` is that of `base`; -1: it lacks it, and its value is the first input.
/// Nothing: they are of different classes.
std::optional<std::vector<int>> embedded(const PythonClass& base, const PythonClass& other) {
    if (base.inputs.size() != other.inputs.size() || base.results.size() != other.results.size()) return {};
    std::vector<int> values(base.values.size(), -1), steps;
    for (std::size_t i = 0; i < base.inputs.size(); ++i) values[static_cast<std::size_t>(base.inputs[i])] = other.inputs[i];
    const auto is_same = [&](int own, int others) {
        const PythonValue& a = base.values[static_cast<std::size_t>(own)];
        const PythonValue& b = other.values[static_cast<std::size_t>(others)];
        if (!a.module.empty()) return b.kind == a.kind && a.module == b.module;
        return values[static_cast<std::size_t>(own)] == others;
    };
    constexpr int most_absent = 3;  // more flags are harder to read than a second class
    int absent = 0;
    std::size_t next = 0;
    for (const PythonStep& step : base.steps) {
        if (next < other.steps.size() && are_alike(step, other.steps[next]) &&
            std::ranges::equal(step.inputs, other.steps[next].inputs, is_same)) {
            for (std::size_t i = 0; i < step.outputs.size(); ++i)
                values[static_cast<std::size_t>(step.outputs[i])] = other.steps[next].outputs[i];
            steps.push_back(static_cast<int>(next++));
        } else if (!step.tensor && !step.inputs.empty() && step.outputs.size() == 1 && absent++ < most_absent) {
            const int input = step.inputs.front();
            if (!base.values[static_cast<std::size_t>(input)].module.empty()) return {};
            values[static_cast<std::size_t>(step.outputs.front())] = values[static_cast<std::size_t>(input)];
            steps.push_back(-1);
        } else {
            return {};
        }
    }
    if (next != other.steps.size() || !std::ranges::equal(base.results, other.results, is_same)) return {};
    return steps;
}

void collect_slots(Python& expression, std::vector<Python*>& slots) {
    if (!expression.slot.empty()) slots.push_back(&expression);
    for (Python& item : expression.items) collect_slots(item, slots);
}

class ClassMaker {
public:
    explicit ClassMaker(const NetworkGraph& graph) : graph_(graph), last_use_(graph.values.size(), -1) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
            for (const int input : graph.nodes[i].inputs) last_use_[static_cast<std::size_t>(input)] = static_cast<int>(i);
        for (const int output : graph.outputs) last_use_[static_cast<std::size_t>(output)] = std::numeric_limits<int>::max();
        place_bodies();
        find_foreign_modules(0, false);
    }

    std::vector<PythonClass> run() {
        PythonClass network = form(0).made;
        network.name = "Network";
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const GraphNode& node = graph_.nodes[i];
            const bool shares = node.kind->name == "Linear" && node.arguments.given("weight");
            if (shares && first_nodes_.at(node.module) == static_cast<int>(i))
                network.shared_weights.emplace_back(node.module, graph_.parameters[static_cast<std::size_t>(node.parameters.front())].name);
        }
        classes_.push_back(std::move(network));
        return std::move(classes_);
    }

private:
    void place_bodies() {
        places_.push_back({.end = static_cast<int>(graph_.nodes.size())});
        std::vector<int> around{0};
        for (const GraphBody& body : graph_.bodies) {
            if (body.first == body.end) continue;
            while (around.size() > 1 && place(around.back()).end <= body.first) around.pop_back();
            const int index = static_cast<int>(places_.size());
            BodyPlace made{&body, body.module, body.first, body.end, {}, {}};
            // A repeat with a label and its runs have one line.
            const GraphBody* outer = place(around.back()).body;
            const bool is_run = outer != nullptr && outer->block.empty() && outer->place == body.place;
            made.group = !body.block.empty() ? body.block
                                             : std::to_string(body.place.line) + ':' + std::to_string(body.place.column) + (is_run ? " run" : "");
            if (!body.again) first_runs_.emplace(body.module, index);
            places_[static_cast<std::size_t>(around.back())].inner.push_back(index);
            places_.push_back(std::move(made));
            around.push_back(index);
        }
        forms_.resize(places_.size());
        constructors_.resize(places_.size());
    }

    /// Modules with children that their own body does not make: labels with dots, lines that only a
    /// second run has.
    void find_foreign_modules(int index, bool again) {
        const BodyPlace& here = place(index);
        int next = here.first;
        const auto add_nodes = [&](int end) {
            for (; next < end; ++next) {
                const GraphNode& node = graph_.nodes[static_cast<std::size_t>(next)];
                if ((!node.own_module && !node.kind->bare) || !first_nodes_.emplace(node.module, next).second) continue;
                const std::string inner = again ? node.module : below(node.module, here.module);
                for (std::size_t dot = inner.find('.'); dot != inner.npos; dot = inner.find('.', dot + 1))
                    foreign_.insert(again || here.module.empty() ? inner.substr(0, dot) : here.module + '.' + inner.substr(0, dot));
            }
        };
        for (const int inner : here.inner) {
            add_nodes(place(inner).first);
            find_foreign_modules(inner, again || place(inner).body->again);
            next = place(inner).end;
        }
        add_nodes(here.end);
    }

    const BodyPlace& place(int index) const { return places_[static_cast<std::size_t>(index)]; }

    // Forms.

    Form& form(int index) {
        auto& made = forms_[static_cast<std::size_t>(index)];
        if (!made) {
            Form form;
            std::map<Reference, int> locals;
            const BodyPlace& here = place(index);
            if (index == 0)
                for (const int input : graph_.inputs) local({.value = input}, here, form, locals);
            add_items(here, here, form, locals);
            finish(here, form, locals);
            made = std::move(form);
        }
        return *made;
    }

    /// The class's value for a reference.
    int local(Reference reference, const BodyPlace& here, Form& form, std::map<Reference, int>& locals) {
        if (reference.value >= 0) {
            const int node = graph_.values[static_cast<std::size_t>(reference.value)].node;
            if (node >= 0 && graph_.nodes[static_cast<std::size_t>(node)].kind->bare)
                reference = {-1, graph_.nodes[static_cast<std::size_t>(node)].module, true};
        }
        const auto [found, added] = locals.emplace(reference, static_cast<int>(form.made.values.size()));
        if (!added) return found->second;
        PythonValue value{.kind = PythonValue::Kind::input};
        if (reference.value < 0 && lies_in(reference.module, here.module)) {
            value.kind = reference.is_tensor ? PythonValue::Kind::tensor : PythonValue::Kind::module;
            value.module = below(reference.module, here.module);
        } else {
            value.name = reference.value < 0 ? last_part(reference.module) : input_name(reference.value, here);
            form.needs.push_back(reference);
        }
        form.made.values.push_back(std::move(value));
        return found->second;
    }

    std::string input_name(int value, const BodyPlace& here) const {
        if (here.body != nullptr) {
            const auto found = std::ranges::find(here.body->inputs, value);
            const auto at = static_cast<std::size_t>(found - here.body->inputs.begin());
            if (found != here.body->inputs.end()) return at < here.body->input_names.size() ? here.body->input_names[at] : "in";
        }
        return value_name(value);
    }

    std::string value_name(int value) const {
        const GraphValue& named = graph_.values[static_cast<std::size_t>(value)];
        if (!named.name.empty() || !named.role.empty() || named.node < 0) return named.name.empty() ? named.role : named.name;
        const GraphNode& node = graph_.nodes[static_cast<std::size_t>(named.node)];
        return node.labelled ? last_part(node.module) : node.kind->name;
    }

    void add_items(const BodyPlace& body, const BodyPlace& here, Form& form, std::map<Reference, int>& locals) {
        int next = body.first;
        for (const int inner : body.inner) {
            for (; next < place(inner).first; ++next) add_layer(next, here, form, locals);
            add_body(inner, here, form, locals);
            next = place(inner).end;
        }
        for (; next < body.end; ++next) add_layer(next, here, form, locals);
    }

    void add_layer(int index, const BodyPlace& here, Form& form, std::map<Reference, int>& locals) {
        const GraphNode& node = graph_.nodes[static_cast<std::size_t>(index)];
        PytorchForm layer = pytorch_form(graph_, node);
        PythonStep step;
        const std::string label = last_part(node.module);
        step.word = node.labelled ? label : node.kind->name;
        step.line = node.place.line;
        step.helpers = layer.helpers;
        const bool is_module = node.own_module && layer.module;
        if (is_module || node.kind->bare) step.makes = first_nodes_.at(node.module) == index;
        if (node.kind->bare) {
            step.tensor = true;
            step.fixed = graph_.parameters[static_cast<std::size_t>(node.parameters.front())].fixed;
            step.module = below(node.module, here.module);
            step.constructor = layer.module;
            if (step.makes) form.made.steps.push_back(std::move(step));
            return;
        }
        for (const int input : node.inputs) step.inputs.push_back(local({.value = input}, here, form, locals));
        const bool runs_module = is_module && (node.kind->weighted || !layer.function || node.labelled);
        step.runs_module = !layer.run;
        step.code = layer.run ? *layer.run : python_call("{m}", {"{0}"});
        if (is_module && lies_in(node.module, here.module)) {
            step.module = below(node.module, here.module);
            if (step.makes) step.constructor = layer.module;
        } else if (runs_module) {
            replace(step.code, "{m}", '{' + std::to_string(step.inputs.size()) + '}');
            step.inputs.push_back(local({.module = node.module}, here, form, locals));
        }
        if (!runs_module) step.function = layer.function;
        step.gives_pair = layer.gives_pair;
        step.further = layer.further;
        for (const int output : node.outputs) step.outputs.push_back(new_value(output, form, locals));
        form.made.steps.push_back(std::move(step));
    }

    int new_value(int output, Form& form, std::map<Reference, int>& locals) const {
        const int index = static_cast<int>(form.made.values.size());
        locals[{.value = output}] = index;
        form.made.values.push_back({.name = value_name(output)});
        return index;
    }

    void add_body(int index, const BodyPlace& here, Form& form, std::map<Reference, int>& locals) {
        const BodyPlace& inner = place(index);
        Form* used = nullptr;
        PythonStep step;
        step.word = last_part(inner.module);
        step.line = inner.body->place.line;
        if (!inner.body->again) {
            step.constructor = constructor(index);
            step.makes = true;
            used = &this->form(index);
        } else {
            const auto first = first_runs_.find(inner.module);
            used = &this->form(index);
            if (first == first_runs_.end() || !are_same(this->form(first->second), *used)) return add_items(inner, here, form, locals);
        }
        std::vector<Python> items;
        for (std::size_t i = 0; i < used->needs.size(); ++i) {
            step.inputs.push_back(local(used->needs[i], here, form, locals));
            items.emplace_back('{' + std::to_string(i) + '}');
        }
        step.runs_module = step.inputs.size() == 1 && used->needs.front().value >= 0;
        step.code = python_call("{m}", std::move(items));
        if (lies_in(inner.module, here.module)) {
            step.module = below(inner.module, here.module);
        } else {
            replace(step.code, "{m}", '{' + std::to_string(step.inputs.size()) + '}');
            step.inputs.push_back(local({.module = inner.module}, here, form, locals));
        }
        for (const int output : used->gives) {
            step.outputs.push_back(new_value(output, form, locals));
            PythonValue& value = form.made.values.back();
            if (output == inner.body->output && graph_.values[static_cast<std::size_t>(output)].name.empty() && !is_number(step.word)) value.name = step.word;
        }
        form.made.steps.push_back(std::move(step));
    }

    /// Whether the second run does what the first one does, with the same numbers.
    static bool are_same(Form& first, Form& again) {
        PythonClass base = first.made, other = again.made;
        for (PythonClass* each : {&base, &other}) {
            std::erase_if(each->steps, &PythonStep::tensor);
            for (PythonStep& step : each->steps) {
                step.makes = false;
                step.constructor.reset();
            }
        }
        const auto steps = embedded(base, other);
        if (!steps || std::ranges::find(*steps, -1) != steps->end()) return false;
        for (std::size_t i = 0; i < base.steps.size(); ++i)
            if (base.steps[i].function && flat(*base.steps[i].function) != flat(*other.steps[i].function)) return false;
        return true;
    }

    void finish(const BodyPlace& here, Form& form, std::map<Reference, int>& locals) {
        // The inputs that the body names come first.
        std::vector<Reference> needs;
        for (const int input : here.body != nullptr ? here.body->inputs : graph_.inputs) {
            const auto found = std::ranges::find(form.needs, Reference{.value = input});
            if (found == form.needs.end()) continue;
            needs.push_back(*found);
            form.needs.erase(found);
        }
        needs.insert(needs.end(), form.needs.begin(), form.needs.end());
        form.needs = std::move(needs);
        for (const Reference& need : form.needs) form.made.inputs.push_back(locals.at(need));
        if (here.body == nullptr) {
            form.gives = graph_.outputs;
        } else {
            for (int node = here.first; node < here.end; ++node)
                for (const int output : graph_.nodes[static_cast<std::size_t>(node)].outputs)
                    if ((last_use_[static_cast<std::size_t>(output)] >= here.end || output == here.body->output) && !graph_.nodes[static_cast<std::size_t>(node)].kind->bare)
                        form.gives.push_back(output);
            std::stable_partition(form.gives.begin(), form.gives.end(), [&](int value) { return value == here.body->output; });
        }
        for (const int value : form.gives) form.made.results.push_back(local({.value = value}, here, form, locals));
        form.is_chain = here.body != nullptr && is_chain(form, here);
    }

    bool is_chain(const Form& form, const BodyPlace& here) const {
        const PythonClass& made = form.made;
        if (form.needs.size() != 1 || form.needs.front().value < 0 || form.gives.size() != 1 || foreign_.contains(here.module)) return false;
        int value = made.inputs.front();
        for (const PythonStep& step : made.steps) {
            if (!step.makes || step.tensor || !step.constructor || !step.runs_module || step.gives_pair || step.module.empty() ||
                step.module.find('.') != std::string::npos || step.outputs.size() != 1 || step.inputs != std::vector<int>{value})
                return false;
            value = step.outputs.front();
        }
        return value == made.results.front();
    }

    // Classes.

    Python constructor(int index) {
        auto& made = constructors_[static_cast<std::size_t>(index)];
        if (!made) {
            Form& own = form(index);
            if (place(index).body->block.empty() && own.is_chain) {
                made = python_call("nn.Sequential", sequential_items(own.made.steps));
                made->parted = true;
            } else {
                make_classes(place(index).group);
            }
        }
        return *constructors_[static_cast<std::size_t>(index)];
    }

    struct Group {
        PythonClass base{};
        std::vector<int> bodies{};
        std::vector<std::vector<int>> steps{};  ///< of each body: see embedded()
    };

    /// One class for all bodies of a group, or several where they do not fit into one.
    void make_classes(const std::string& name) {
        std::vector<int> bodies;
        for (std::size_t i = 1; i < places_.size(); ++i) {
            const BodyPlace& each = places_[i];
            if (each.group != name || each.body->again) continue;
            const int index = static_cast<int>(i);
            if (each.body->block.empty() && form(index).is_chain) continue;
            form(index);
            bodies.push_back(index);
        }
        std::vector<int> longest_first = bodies;
        std::ranges::stable_sort(longest_first, std::greater(), [&](int index) { return form(index).made.steps.size(); });
        std::vector<Group> groups;
        for (const int index : longest_first) {
            bool found = false;
            for (Group& group : groups) {
                auto steps = embedded(group.base, form(index).made);
                if (!steps) continue;
                group.bodies.push_back(index);
                group.steps.push_back(std::move(*steps));
                found = true;
                break;
            }
            if (found) continue;
            std::vector<int> own;
            for (std::size_t i = 0; i < form(index).made.steps.size(); ++i) own.push_back(static_cast<int>(i));
            groups.push_back({form(index).made, {index}, {std::move(own)}});
        }
        std::ranges::sort(groups, {}, [](const Group& group) { return std::ranges::min(group.bodies); });
        for (Group& group : groups) make_class(group);
    }

    static std::vector<Python*> slots(PythonStep& step, bool is_chain) {
        std::vector<Python*> all;
        if (step.constructor && (is_chain || !step.function)) collect_slots(*step.constructor, all);
        if (step.function && !is_chain) collect_slots(*step.function, all);
        return all;
    }

    /// An argument of the class in each body; nothing where the body lacks the step.
    using Column = std::vector<std::optional<std::string>>;
    struct Columns {
        std::vector<Column> columns{};
        std::vector<PythonArgument> arguments{};

        static bool fit(const Column& a, const Column& b) {
            return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return !x || !y || *x == *y; });
        }

        /// Whether an argument of this name fits, so that a number that only some bodies have can be it.
        bool has(const Column& column, const std::string& name) const {
            for (std::size_t i = 0; i < columns.size(); ++i)
                if (arguments[i].name == name && fit(columns[i], column)) return true;
            return false;
        }

        /// The argument for a column, an earlier one if that fits.
        std::size_t argument(const Column& column, const std::string& name, const std::string& usual) {
            for (std::size_t i = 0; i < columns.size(); ++i) {
                if (!fit(columns[i], column)) continue;
                for (std::size_t body = 0; body < column.size(); ++body)
                    if (!columns[i][body]) columns[i][body] = column[body];
                if (arguments[i].usual != usual) arguments[i].usual.clear();
                return i;
            }
            columns.push_back(column);
            arguments.push_back({name, usual, false});
            return columns.size() - 1;
        }
    };

    bool is_chain(const Group& group) {
        for (std::size_t i = 0; i < group.bodies.size(); ++i) {
            if (!form(group.bodies[i]).is_chain || std::ranges::find(group.steps[i], -1) != group.steps[i].end()) return false;
            const auto same_name = [](const PythonStep& a, const PythonStep& b) { return a.module == b.module; };
            if (!std::ranges::equal(form(group.bodies[i]).made.steps, group.base.steps, same_name)) return false;
        }
        return true;
    }

    void make_class(Group& group) {
        PythonClass& made = group.base;
        made.is_chain = is_chain(group);
        Columns columns;
        std::vector<std::pair<Python*, std::size_t>> uses;  // texts that become arguments
        std::vector<std::pair<PythonStep*, std::size_t>> flags;
        std::set<const Python*> read_in_forward;
        for (std::size_t at = 0; at < made.steps.size(); ++at) {
            PythonStep& step = made.steps[at];
            std::vector<std::vector<Python*>> all;
            Column present;
            for (std::size_t body = 0; body < group.bodies.size(); ++body) {
                const int own = group.steps[body][at];
                present.emplace_back(own < 0 ? "False" : "True");
                all.push_back(own < 0 ? std::vector<Python*>() : slots(form(group.bodies[body]).made.steps[static_cast<std::size_t>(own)], made.is_chain));
            }
            const auto own_slots = slots(step, made.is_chain);
            for (std::size_t i = 0; i < own_slots.size(); ++i) {
                Column column;
                std::set<std::string> texts;
                for (const auto& each : all) {
                    column.push_back(each.empty() ? std::nullopt : std::optional(each[i]->text));
                    if (!each.empty()) texts.insert(each[i]->text);
                }
                if (texts.size() <= 1 && !columns.has(column, own_slots[i]->slot)) {
                    own_slots[i]->slot.clear();
                    continue;
                }
                uses.emplace_back(own_slots[i], columns.argument(column, own_slots[i]->slot, own_slots[i]->usual));
                if (step.function && !made.is_chain) read_in_forward.insert(own_slots[i]);
            }
            if (std::ranges::find(present, std::optional<std::string>("False")) == present.end()) continue;
            step.may_be_absent = true;
            flags.emplace_back(&step, columns.argument(present, step.word, "False"));
        }
        for (const auto& [text, argument] : uses)
            if (read_in_forward.contains(text)) columns.arguments[argument].is_attribute = true;
        for (const auto& [step, argument] : flags)
            if (step->function || step->inputs.size() != 1) columns.arguments[argument].is_attribute = true;
        name_arguments(made, columns.arguments);
        for (const auto& [text, argument] : uses) {
            text->text = (read_in_forward.contains(text) ? "self." : "") + columns.arguments[argument].name;
            text->slot.clear();
        }
        for (const auto& [step, argument] : flags) step->present = columns.arguments[argument].name;
        made.name = class_name(place(group.bodies.front()));
        made.arguments = columns.arguments;
        std::stable_partition(made.arguments.begin(), made.arguments.end(), [](const PythonArgument& each) { return each.usual.empty(); });
        for (std::size_t body = 0; body < group.bodies.size(); ++body) {
            std::vector<Python> items;
            for (const PythonArgument& argument : made.arguments) {
                const auto at = static_cast<std::size_t>(std::ranges::find(columns.arguments, argument.name, &PythonArgument::name) - columns.arguments.begin());
                const Column& column = columns.columns[at];
                std::string text = column[body].value_or(argument.usual);
                if (text.empty()) text = **std::ranges::find_if(column, [](const auto& each) { return each.has_value(); });
                Python value = python_slot(argument.name, std::move(text));
                items.push_back(argument.usual.empty() ? std::move(value) : python_named(argument.name, std::move(value), argument.usual));
            }
            constructors_[static_cast<std::size_t>(group.bodies[body])] = python_call(made.name, std::move(items));
        }
        classes_.push_back(std::move(made));
    }

    static void name_arguments(const PythonClass& made, std::vector<PythonArgument>& arguments) {
        std::set<std::string> taken = {"self", "nn", "torch", "F"};
        std::set<std::string> modules;
        for (const PythonStep& step : made.steps) modules.insert(step.module.substr(0, step.module.find('.')));
        for (PythonArgument& argument : arguments) {
            const std::string wanted = to_variable(argument.name);
            const auto is_taken = [&](const std::string& name) {
                return taken.contains(name) || (argument.is_attribute && (modules.contains(name) || is_own_name_of_modules(name)));
            };
            argument.name = wanted;
            for (int i = 2; is_taken(argument.name); ++i) argument.name = wanted + '_' + std::to_string(i);
            taken.insert(argument.name);
        }
    }

    static std::string to_variable(const std::string& name) {
        const std::string out = small_word(name);
        return is_python_name(out) ? out : '_' + out;
    }

    /// A block's name; of a container its label: "Encoder".
    std::string class_name(const BodyPlace& body) {
        std::string source = body.body->block;
        if (source.empty()) {
            const std::string& module = body.module;
            source = last_part(module);
            if (is_number(source) && module.size() > source.size()) source = last_part(module.substr(0, module.size() - source.size() - 1)) + "_part";
        }
        std::string name;
        bool upper = true;
        for (const char c : source) {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (!letter && !is_digit(c)) {
                upper = true;
                continue;
            }
            name += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
            upper = false;
        }
        if (!is_python_name(name)) name = "Part" + name;
        return unique_name(name, class_names_);
    }

    const NetworkGraph& graph_;
    std::vector<int> last_use_;  // nodes, by value
    std::vector<BodyPlace> places_;
    std::map<std::string, int> first_runs_;
    std::map<std::string, int> first_nodes_;  // that run a module, by its name
    std::set<std::string> foreign_;
    std::vector<std::optional<Form>> forms_;
    std::vector<std::optional<Python>> constructors_;
    std::vector<PythonClass> classes_;
    std::set<std::string> class_names_ = {"Network", "OrderedDict", "EmbeddingTables", "Positions", "DropPath",
                                          "CarryLSTM", "CarryGRU", "CarryRNN", "DTYPES", "F", "None", "True", "False"};
};

}  // namespace

std::vector<PythonClass> pytorch_classes(const NetworkGraph& graph) { return ClassMaker(graph).run(); }

bool is_own_name_of_modules(std::string_view name) {
    static const std::set<std::string_view> names = {
        "T_destination", "add_module", "apply", "bfloat16", "buffers", "call_super_init", "children", "compile", "cpu", "cuda", "double",
        "dump_patches", "eval", "extra_repr", "float", "forward", "get_buffer", "get_extra_state", "get_parameter", "get_submodule", "half",
        "ipu", "load_state_dict", "modules", "mtia", "named_buffers", "named_children", "named_modules", "named_parameters", "parameters",
        "register_backward_hook", "register_buffer", "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook",
        "register_full_backward_pre_hook", "register_load_state_dict_post_hook", "register_load_state_dict_pre_hook", "register_module",
        "register_parameter", "register_state_dict_post_hook", "register_state_dict_pre_hook", "requires_grad_", "set_extra_state",
        "set_submodule", "share_memory", "state_dict", "to", "to_empty", "train", "training", "type", "xpu", "zero_grad"};
    return names.contains(name);
}

std::vector<Python> sequential_items(const std::vector<PythonStep>& steps) {
    bool counted = true;
    for (std::size_t i = 0; i < steps.size(); ++i) counted = counted && steps[i].module == std::to_string(i);
    std::vector<Python> items;
    for (const PythonStep& step : steps) {
        if (counted)
            items.push_back(*step.constructor);
        else
            items.push_back(python_call({}, {python_string(step.module), *step.constructor}));
    }
    if (counted) return items;
    Python list = python_list(std::move(items));
    list.parted = true;
    return {python_call("OrderedDict", {std::move(list)})};
}

}  // namespace engine::network
