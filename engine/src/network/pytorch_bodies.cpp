#include "network/pytorch_bodies.h"

#include <algorithm>
#include <limits>

#include "network/module_path.h"

namespace engine::network {
namespace {

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

}  // namespace

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

namespace {

/// Whether the second run does what the first one does, with the same numbers.
bool are_same(const Form& first, const Form& again) {
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

}  // namespace

PythonBodies::PythonBodies(const NetworkGraph& graph, std::function<Python(int)> constructor)
    : graph_(graph), constructor_(std::move(constructor)), last_use_(graph.values.size(), -1) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        for (const int input : graph.nodes[i].inputs) last_use_[static_cast<std::size_t>(input)] = static_cast<int>(i);
    for (const int output : graph.outputs) last_use_[static_cast<std::size_t>(output)] = std::numeric_limits<int>::max();
    place_bodies();
    find_foreign_modules(0, false);
}

bool PythonBodies::is_first(int node) const { return first_nodes_.at(graph_.nodes[static_cast<std::size_t>(node)].module) == node; }

void PythonBodies::place_bodies() {
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
}

/// Modules with children that their own body does not make: labels with dots, lines that only a
/// second run has.
void PythonBodies::find_foreign_modules(int index, bool again) {
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

Form& PythonBodies::form(int index) {
    auto& made = forms_[static_cast<std::size_t>(index)];
    if (!made) {
        Form form;
        Locals locals;
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
int PythonBodies::local(Reference reference, const BodyPlace& here, Form& form, Locals& locals) {
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

std::string PythonBodies::input_name(int value, const BodyPlace& here) const {
    if (here.body != nullptr) {
        const auto found = std::ranges::find(here.body->inputs, value);
        const auto at = static_cast<std::size_t>(found - here.body->inputs.begin());
        if (found != here.body->inputs.end()) return at < here.body->input_names.size() ? here.body->input_names[at] : "in";
    }
    return value_name(value);
}

std::string PythonBodies::value_name(int value) const {
    const GraphValue& named = graph_.values[static_cast<std::size_t>(value)];
    if (!named.name.empty() || !named.role.empty() || named.node < 0) return named.name.empty() ? named.role : named.name;
    const GraphNode& node = graph_.nodes[static_cast<std::size_t>(named.node)];
    return node.labelled ? last_part(node.module) : node.kind->name;
}

void PythonBodies::add_items(const BodyPlace& body, const BodyPlace& here, Form& form, Locals& locals) {
    int next = body.first;
    for (const int inner : body.inner) {
        for (; next < place(inner).first; ++next) add_layer(next, here, form, locals);
        add_body(inner, here, form, locals);
        next = place(inner).end;
    }
    for (; next < body.end; ++next) add_layer(next, here, form, locals);
}

void PythonBodies::add_layer(int index, const BodyPlace& here, Form& form, Locals& locals) {
    const GraphNode& node = graph_.nodes[static_cast<std::size_t>(index)];
    PytorchForm layer = pytorch_form(graph_, node);
    PythonStep step;
    const std::string label = last_part(node.module);
    step.word = node.labelled ? label : node.kind->name;
    step.line = node.place.line;
    step.helpers = layer.helpers;
    const bool is_module = node.own_module && layer.module;
    if (is_module || node.kind->bare) step.makes = is_first(index);
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

int PythonBodies::new_value(int output, Form& form, Locals& locals) const {
    const int index = static_cast<int>(form.made.values.size());
    locals[{.value = output}] = index;
    form.made.values.push_back({.name = value_name(output)});
    return index;
}

void PythonBodies::add_body(int index, const BodyPlace& here, Form& form, Locals& locals) {
    const BodyPlace& inner = place(index);
    Form* used = nullptr;
    PythonStep step;
    step.word = last_part(inner.module);
    step.line = inner.body->place.line;
    if (!inner.body->again) {
        step.constructor = constructor_(index);
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

void PythonBodies::finish(const BodyPlace& here, Form& form, Locals& locals) {
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

bool PythonBodies::is_chain(const Form& form, const BodyPlace& here) const {
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

}  // namespace engine::network
