#include "network/pytorch_classes.h"

#include <algorithm>
#include <map>
#include <set>

#include "network/module_path.h"
#include "network/pytorch_bodies.h"

namespace engine::network {
namespace {

void collect_slots(Python& expression, std::vector<Python*>& slots) {
    if (!expression.slot.empty()) slots.push_back(&expression);
    for (Python& item : expression.items) collect_slots(item, slots);
}

class ClassMaker {
public:
    explicit ClassMaker(const NetworkGraph& graph)
        : graph_(graph), bodies_(graph, [this](int index) { return constructor(index); }), constructors_(static_cast<std::size_t>(bodies_.count())) {}

    std::vector<PythonClass> run() {
        PythonClass network = bodies_.form(0).made;
        network.name = "Network";
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const GraphNode& node = graph_.nodes[i];
            const bool shares = node.kind->name == "Linear" && node.arguments.given("weight");
            if (shares && bodies_.is_first(static_cast<int>(i)))
                network.shared_weights.emplace_back(node.module, graph_.parameters[static_cast<std::size_t>(node.parameters.front())].name);
        }
        classes_.push_back(std::move(network));
        return std::move(classes_);
    }

private:
    Python constructor(int index) {
        auto& made = constructors_[static_cast<std::size_t>(index)];
        if (!made) {
            Form& own = bodies_.form(index);
            if (bodies_.place(index).body->block.empty() && own.is_chain) {
                made = python_call("nn.Sequential", sequential_items(own.made.steps));
                made->parted = true;
            } else {
                make_classes(bodies_.place(index).group);
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
        for (int index = 1; index < bodies_.count(); ++index) {
            const BodyPlace& each = bodies_.place(index);
            if (each.group != name || each.body->again) continue;
            if (each.body->block.empty() && bodies_.form(index).is_chain) continue;
            bodies_.form(index);
            bodies.push_back(index);
        }
        std::vector<int> longest_first = bodies;
        std::ranges::stable_sort(longest_first, std::greater(), [&](int index) { return bodies_.form(index).made.steps.size(); });
        std::vector<Group> groups;
        for (const int index : longest_first) {
            bool found = false;
            for (Group& group : groups) {
                auto steps = embedded(group.base, bodies_.form(index).made);
                if (!steps) continue;
                group.bodies.push_back(index);
                group.steps.push_back(std::move(*steps));
                found = true;
                break;
            }
            if (found) continue;
            std::vector<int> own;
            for (std::size_t i = 0; i < bodies_.form(index).made.steps.size(); ++i) own.push_back(static_cast<int>(i));
            groups.push_back({bodies_.form(index).made, {index}, {std::move(own)}});
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
            if (!bodies_.form(group.bodies[i]).is_chain || std::ranges::find(group.steps[i], -1) != group.steps[i].end()) return false;
            const auto same_name = [](const PythonStep& a, const PythonStep& b) { return a.module == b.module; };
            if (!std::ranges::equal(bodies_.form(group.bodies[i]).made.steps, group.base.steps, same_name)) return false;
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
                all.push_back(own < 0 ? std::vector<Python*>() : slots(bodies_.form(group.bodies[body]).made.steps[static_cast<std::size_t>(own)], made.is_chain));
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
        made.name = class_name(bodies_.place(group.bodies.front()));
        made.arguments = columns.arguments;
        std::stable_partition(made.arguments.begin(), made.arguments.end(), [](const PythonArgument& each) { return each.usual.empty(); });
        constexpr std::ptrdiff_t most_without_name = 3;
        const bool named = std::ranges::count_if(made.arguments, [](const PythonArgument& each) { return each.usual.empty(); }) > most_without_name;
        for (std::size_t body = 0; body < group.bodies.size(); ++body) {
            std::vector<Python> items;
            for (const PythonArgument& argument : made.arguments) {
                const auto at = static_cast<std::size_t>(std::ranges::find(columns.arguments, argument.name, &PythonArgument::name) - columns.arguments.begin());
                const Column& column = columns.columns[at];
                std::string text = column[body].value_or(argument.usual);
                if (text.empty()) text = **std::ranges::find_if(column, [](const auto& each) { return each.has_value(); });
                Python value = python_slot(argument.name, std::move(text));
                items.push_back(argument.usual.empty() && !named ? std::move(value) : python_named(argument.name, std::move(value), argument.usual));
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
    PythonBodies bodies_;
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
