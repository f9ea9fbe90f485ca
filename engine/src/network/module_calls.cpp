#include "network/module_calls.h"

#include "engine/base/near_name.h"
#include "network/arguments.h"

namespace engine::network {
namespace {

void check_input_count(const LayerKind& kind, std::size_t count, const Statement& statement) {
    const int given = static_cast<int>(count);
    if (given >= kind.fewest_inputs && given <= kind.most_inputs) return;
    if (kind.most_inputs == many_inputs) fail(place_for_faults(statement), msg("{} takes {} values or more: {} from above, x.", kind.name, kind.fewest_inputs, kind.name));
    if (kind.fewest_inputs == kind.most_inputs) fail(place_for_faults(statement), msg("{} takes {} values, not {}.", kind.name, kind.fewest_inputs, given));
    fail(place_for_faults(statement), msg("{} takes {} to {} values, not {}.", kind.name, kind.fewest_inputs, kind.most_inputs, given));
}

/// As a body names it that takes it: what is inside it is not visible there. So no scope keeps that of the line above alive, which
/// keeps the one above that.
NamedValue plain(const NamedValue& value) { return {value.value, -1, {}}; }

}  // namespace

ModuleCalls::ModuleCalls(const NetworkSyntax& syntax, Expansion& expansion, TextEnvironment& environment, GraphBuilder& builder, BodyRunner& bodies)
    : syntax_(syntax), expansion_(expansion), environment_(environment), builder_(builder), bodies_(bodies) {
    for (std::size_t i = 0; i < syntax.blocks.size(); ++i) blocks_.emplace(syntax.blocks[i].name, i);
}

void ModuleCalls::take_name(const std::string& name, const Statement& statement, std::string_view role) {
    if (name.size() > Limits::full_name || name.size() - (name.rfind('.') + 1) > Limits::label)
        fail(statement.place, msg("A name has at most {} characters, and {} with those of the modules around it.", Limits::label, Limits::full_name));
    if (expansion_.runs_again()) return;
    const auto [found, added] = taken_.emplace(name, statement.place.line);
    if (added) return;
    const std::string own = name.substr(name.rfind('.') + 1);
    const std::string full = role.empty() ? name : name + '.' + std::string(role);
    const TextPlace place = statement.label ? statement.label->place : statement.place;
    if (found->second == statement.place.line)
        fail(place, msg("{}: this line makes {} twice. Use the number of the repeat in its name: {}{}.", own, full, own, "{i}"));
    fail(place, msg("{}: line {} has this name, and it would be {} twice. To use the same weights again write \"x = {} from ...\".", own, found->second, full, own));
}

std::optional<NamedValue> ModuleCalls::left_out(const Statement& statement, const std::string& name, int value) {
    if (taken_.contains(name)) return {};
    modules_.push_back({.statement = &statement, .left_out = true});
    return NamedValue{value, static_cast<int>(modules_.size()) - 1, {}};
}

NamedValue ModuleCalls::container(const Statement& statement, const std::string& label, const NamedValue& input, Frame& frame) {
    take_name(frame.prefix + label, statement);
    ++*frame.count;
    const GraphBuilder::Inside inside(builder_, {statement.place.line, 0, statement.place.line});
    return first_run({.statement = &statement, .name = frame.prefix + label, .variables = frame.variables, .names = frame.names, .time = expansion_.clock(), .block_limit = frame.block_limit}, {input}, true);
}

/// Keeps a module with a label, so that it can run again.
NamedValue ModuleCalls::first_run(Module module, const std::vector<NamedValue>& inputs, bool has_label) {
    NamedValue result = run_module(module, inputs);
    if (!has_label) return result;
    modules_.push_back(std::move(module));
    result.module = static_cast<int>(modules_.size()) - 1;
    return result;
}

NamedValue ModuleCalls::layer(const Statement& statement, const std::string& label, std::vector<NamedValue> inputs, Frame& frame) {
    const std::string callee = expansion_.text(*statement.callee, frame);
    const auto found_block = blocks_.find(callee);
    const bool is_block = found_block != blocks_.end();
    const BlockLine* block = is_block ? &syntax_.blocks[found_block->second] : nullptr;
    const LayerKind* kind = find_layer_kind(callee);
    if (!is_block && kind == nullptr) return again(callee, statement, label, inputs, frame);
    if (is_block && found_block->second >= frame.block_limit)
        fail(place_for_faults(statement), msg("{}: a block sees those above it. Move {} above this one.", callee, callee));
    Module module{.statement = &statement, .time = expansion_.clock()};
    if (is_block) {
        module.block = block;
        module.block_limit = found_block->second;
        module.variables = block_variables(*block, statement, frame);
        const std::size_t wanted = std::max<std::size_t>(1, block->inputs.size());
        if (inputs.size() != wanted) fail(place_for_faults(statement), msg("{} takes {} values, not {}.", callee, wanted, inputs.size()));
    } else {
        module.kind = kind;
        module.arguments = bind_arguments(*kind, statement, expansion_.evaluator(), FrameView(expansion_, frame));
        module.more = named_values(*kind, statement, frame);
    }
    name_module(module, statement, label, frame);
    if (!is_block && kind->fewest_inputs == 0) {
        if (!statement.from.empty()) fail(place_for_faults(statement), msg("{} takes no value.", callee));
        inputs.clear();
    }
    if (!is_block) {
        check_input_count(*kind, inputs.size(), statement);
        return first_run(std::move(module), inputs, !label.empty());
    }
    const GraphBuilder::Inside inside(builder_, {block->place.line, uses_[found_block->second]++, statement.place.line});
    return first_run(std::move(module), inputs, !label.empty());
}

/// The values that arguments name.
std::vector<NamedValue> ModuleCalls::named_values(const LayerKind& kind, const Statement& statement, const Frame& frame) {
    std::vector<NamedValue> values;
    for (const Argument& argument : statement.arguments)
        for (const LayerArgument& takes : kind.arguments)
            if (takes.form == LayerArgument::Form::value && takes.option.name == argument.name)
                values.push_back(expansion_.value(argument.value.text, argument.value.place, frame));
    return values;
}

/// Gives the module its name; merges and lines "x = ..." have none (rules 2 to 4).
void ModuleCalls::name_module(Module& module, const Statement& statement, const std::string& label, Frame& frame) {
    const LayerKind* kind = module.kind;
    const std::string& callee = kind != nullptr ? kind->name : module.block->name;
    const bool merges = kind != nullptr && kind->merges;
    const bool bare = kind != nullptr && kind->bare;
    const bool weighted = kind == nullptr || kind->weighted || bare;
    if (!statement.name.empty() && weighted)
        fail(place_for_faults(statement), msg("{} has parameters, so it needs a module's name: write \"{}: {}\".", callee, statement.name, callee));
    if (merges && statement.label) fail(statement.label->place, msg("{} is no module: write \"{} = {}\".", callee, label, callee));
    if ((bare || callee == "Positions") && !statement.label)
        fail(place_for_faults(statement), msg("{} needs a name: \"name: {}(...)\".", callee, callee));
    module.own = !merges && !bare && statement.name.empty();
    if (module.own || bare) {
        module.name = frame.prefix + (label.empty() ? std::to_string(*frame.count) : label);
        take_name(module.name, statement, kind != nullptr && kind->weighted ? kind->roles.front() : std::string_view());
    } else {
        module.name = frame.prefix.empty() ? std::string() : frame.prefix.substr(0, frame.prefix.size() - 1);
    }
    if (module.own) ++*frame.count;
}

Failure ModuleCalls::unknown_layer(const std::string& callee, TextPlace place, const Frame& frame) {
    std::string near = nearest_layer_kind(callee);
    if (near.empty()) {
        std::vector<std::string> known;
        frame.names->add_names(known);
        for (const BlockLine& block : syntax_.blocks) known.push_back(block.name);
        if (expansion_.may_suggest(known.size())) near = nearest_name(callee, known);
    }
    if (near.empty()) return {place, msg("{}: there is no such layer.", callee), {}};
    return {place, msg("{}: there is no such layer. Did you mean {}?", callee, near), near};
}

void ModuleCalls::check_line(const Statement& statement, const Frame& frame) {
    if (!statement.callee || statement.callee->fixed().empty() || !statement.has_arguments) return;
    const std::string callee(statement.callee->fixed());
    if (blocks_.contains(callee) || expansion_.is_reported(statement.place)) return;
    if (const LayerKind* kind = find_layer_kind(callee))
        check_argument_names(*kind, statement, FrameView(expansion_, frame));
    else
        throw unknown_layer(callee, statement.callee->place, frame);
}

NamedValue ModuleCalls::again(const std::string& callee, const Statement& statement, const std::string& label, const std::vector<NamedValue>& inputs, Frame& frame) {
    const auto found = expansion_.find_value(*frame.names, callee);
    const TextPlace place = statement.callee->place;
    if (!found) {
        if (frame.names->is_incomplete() || environment_.variables()->is_incomplete() || expansion_.is_reported(place)) throw Unknown{};
        throw unknown_layer(callee, place, frame);
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
    const Expansion::SharedRun run(expansion_, statement);
    const bool block = module.block != nullptr;
    const GraphBuilder::Inside inside(builder_, {block ? module.block->place.line : module.statement->place.line,
                                                 block ? uses_[blocks_.at(module.block->name)]++ : module.runs++, statement.place.line});
    return run_module(Module(module), inputs);
}

std::shared_ptr<Variables> ModuleCalls::block_variables(const BlockLine& block, const Statement& statement, const Frame& frame) {
    auto variables = std::make_shared<Variables>(environment_.variables(), expansion_.clock());
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
        if (given[i] == nullptr && !parameter.default_value) fail(place_for_faults(statement), msg("{}: {} is missing.", block.name, parameter.name));
        Value value = given[i] != nullptr ? expansion_.evaluator().evaluate(given[i]->value, FrameView(expansion_, frame))
                                          : expansion_.evaluator().evaluate(*parameter.default_value, FrameView(expansion_, own));
        expansion_.set_variable(*variables, parameter.name, std::move(value));
    }
    return variables;
}

/// `module` is none of modules_, which may grow meanwhile.
NamedValue ModuleCalls::run_module(const Module& module, const std::vector<NamedValue>& inputs) {
    if (module.kind != nullptr) {
        std::vector<NamedValue> all = inputs;
        all.insert(all.end(), module.more.begin(), module.more.end());
        return {builder_.add_layer({*module.statement, *module.kind, module.arguments, module.name, module.own}, all, environment_), -1, {}};
    }
    std::shared_ptr<Names> names;
    if (module.block != nullptr) {
        names = std::make_shared<Names>(nullptr, 0);
        if (module.block->inputs.empty()) expansion_.set_name(*names, "in", plain(inputs.front()));
        for (std::size_t i = 0; i < module.block->inputs.size(); ++i) expansion_.set_name(*names, module.block->inputs[i], plain(inputs[i]));
    } else {
        names = std::make_shared<Names>(module.names, module.time);
        expansion_.set_name(*names, "in", plain(inputs.front()));
    }
    auto variables = std::make_shared<Variables>(module.variables, module.block != nullptr ? expansion_.clock() : module.time);
    int count = 0;
    Frame frame{variables, names, module.name + '.', plain(inputs.front()), &count, module.block_limit};
    const auto& body = module.block != nullptr ? module.block->body : module.statement->body;
    GraphBody begun{.module = module.name, .place = module.statement->place};
    for (const NamedValue& input : inputs) begun.inputs.push_back(input.value);
    if (module.block != nullptr) {
        begun.block = module.block->name;
        begun.input_names = module.block->inputs;
    }
    const std::size_t index = builder_.begin_body(std::move(begun));
    const int output = bodies_.run(body, frame).value;
    builder_.end_body(index, output);
    return {output, -1, names};
}

}  // namespace engine::network
