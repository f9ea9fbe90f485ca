#include "network/arguments.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "engine/base/near_name.h"
#include "engine/base/plain_text.h"

namespace engine::network {
namespace {

using ArgumentForm = LayerArgument::Form;

/// The words that an argument takes.
std::span<const std::string> words_of(const LayerArgument& argument) {
    static const std::vector<std::string> same = {"same"};
    if (argument.form == ArgumentForm::padding) return same;
    if (argument.form == ArgumentForm::initial) return initial_rules();
    return argument.words;
}

/// Reads one value for an argument.
class ArgumentReader {
public:
    ArgumentReader(const LayerKind& kind, const LayerArgument& argument, TextPlace place)
        : kind_(kind), argument_(argument), spec_(argument.option), place_(place) {}

    LayerArguments::Given read(const Value& value) const {
        LayerArguments::Given given{.is_default = false};
        if (argument_.form == ArgumentForm::initial)
            given.initial = read_initial(value, place_);
        else if (argument_.form == ArgumentForm::tensor)
            given.reference = reference(value);
        else
            given.value = option_value(value);
        return given;
    }

private:
    [[noreturn]] void fail(Message text) const { throw Failure{place_, std::move(text), {}}; }

    OptionValue option_value(const Value& value) const {
        if (const auto* reference = value.as<ValueReference>()) fail_property(reference->path);
        switch (argument_.form) {
            case ArgumentForm::sizes:
                return sizes(value);
            case ArgumentForm::padding:
                if (value.as<std::string>() != nullptr && *value.as<std::string>() == "same") return std::vector<std::int64_t>{};
                return sizes(value);
            case ArgumentForm::list:
            case ArgumentForm::rest:
                return list(value);
            default:
                break;
        }
        if (std::holds_alternative<bool>(spec_.default_value)) {
            if (value.as<bool>() == nullptr) fail(msg("{} takes true or false, not {}.", spec_.name, brief(value)));
            return *value.as<bool>();
        }
        if (std::holds_alternative<std::int64_t>(spec_.default_value)) return whole(value);
        if (std::holds_alternative<double>(spec_.default_value)) return number(value);
        return word(value);
    }

    /// A property that a value does not have.
    [[noreturn]] void fail_property(const std::string& path) const {
        static const std::vector<std::string> properties = {"channels", "height", "width", "length"};
        const std::string of = path.substr(0, path.rfind('.') + 1), near = nearest_name(path.substr(of.size()), properties);
        if (near.empty()) fail(msg("{}: there is no such value, option or parameter here.", path));
        throw Failure{place_, msg("{}: there is no such value, option or parameter here. Did you mean {}?", path, of + near), of + near};
    }

    std::int64_t whole(const Value& value) const {
        const auto number = value.whole();
        if (!number) fail(msg("{} takes a whole number, not {}.", spec_.name, brief(value)));
        check_range(static_cast<double>(*number), value);
        return *number;
    }

    double number(const Value& value) const {
        const auto* whole = value.as<std::int64_t>();
        const auto* number = value.as<double>();
        if (whole == nullptr && number == nullptr) fail(msg("{} takes a number, not {}.", spec_.name, brief(value)));
        const double read = whole != nullptr ? static_cast<double>(*whole) : *number;
        check_range(read, value);
        return read;
    }

    void check_range(double read, const Value& value) const {
        if (read >= spec_.lowest && read <= spec_.highest) return;
        if (spec_.highest < static_cast<double>(size_limit))
            fail(msg("{} = {}: use {} to {}.", spec_.name, brief(value), to_string(Value{spec_.lowest}), to_string(Value{spec_.highest})));
        fail(msg("{} = {}: use {} or more.", spec_.name, brief(value), to_string(Value{spec_.lowest})));
    }

    std::string word(const Value& value) const {
        const auto* word = value.as<std::string>();
        const auto words = words_of(argument_);
        if (word == nullptr || std::ranges::find(words, *word) == words.end())
            fail(msg("{} takes one of these words: {}; not {}.", spec_.name, join(words), brief(value)));
        return *word;
    }

    std::vector<std::int64_t> sizes(const Value& value) const {
        const auto count = static_cast<std::size_t>(kind_.dimensions);
        if (value.whole()) return std::vector<std::int64_t>(count, whole(value));
        const auto* items = value.as<ValueList>();
        if (items == nullptr || items->size() != count)
            fail(msg("{} takes a whole number, or a list of {}; not {}.", spec_.name, count, brief(value)));
        return list(value);
    }

    std::vector<std::int64_t> list(const Value& value) const {
        const auto* items = value.as<ValueList>();
        if (items == nullptr) return {whole(value)};
        std::vector<std::int64_t> out;
        for (const Value& item : *items) {
            if (const auto* size = item.as<Size>())
                fail(msg("{}: {} is a size that is not known before training, so it cannot be one of a parameter.", spec_.name, to_string(*size)));
            out.push_back(whole(item));
        }
        return out;
    }

    std::string reference(const Value& value) const {
        const auto* reference = value.as<ValueReference>();
        if (reference == nullptr) fail(msg("{} names a parameter of another layer: wte.weight.", spec_.name));
        return reference->path;
    }

    const LayerKind& kind_;
    const LayerArgument& argument_;
    const OptionSpec& spec_;
    TextPlace place_;
};

/// The name of a value, which ModuleCalls looks up.
LayerArguments::Given value_name(const LayerArgument& takes, const Expression& expression) {
    if (expression.kind != Expression::Kind::path && expression.kind != Expression::Kind::text)
        throw Failure{expression.place, msg("{} names a value: {}=x.", takes.option.name, takes.option.name), {}};
    return {.reference = expression.text, .is_default = false};
}

std::vector<const LayerArgument*> positional(const LayerKind& kind) {
    std::vector<const LayerArgument*> all;
    for (const LayerArgument& argument : kind.arguments)
        if (argument.positional) all.push_back(&argument);
    return all;
}

std::string joined_names(const std::vector<const LayerArgument*>& arguments) {
    std::string text;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        text += (i == 0 ? "" : i + 1 == arguments.size() ? " and " : ", ") + arguments[i]->option.name;
    return text;
}

const LayerArgument& named_argument(const LayerKind& kind, const Argument& argument, const Surroundings& in) {
    const auto found = std::ranges::find(kind.arguments, argument.name, [](const LayerArgument& each) { return each.option.name; });
    if (found != kind.arguments.end()) return *found;
    std::vector<std::string> names;
    for (const LayerArgument& each : kind.arguments) names.push_back(each.option.name);
    if (in.is_reported(argument.place)) throw Unknown{};
    const std::string near = nearest_name(argument.name, names);
    TextPlace place = argument.place;
    place.length = static_cast<int>(argument.name.size());
    if (near.empty()) throw Failure{place, msg("{} has no argument {}.", kind.name, argument.name), {}};
    throw Failure{place, msg("{} has no argument {}. Did you mean {}?", kind.name, argument.name, near), near};
}

/// Names of the arguments that come without one in PyTorch, or else all in the order of the kind.
std::vector<std::string> order_of_arguments(const LayerKind& kind, bool of_pytorch) {
    if (of_pytorch && !kind.pytorch_order.empty()) return kind.pytorch_order;
    std::vector<std::string> names;
    for (const LayerArgument& each : kind.arguments) {
        if (each.form == ArgumentForm::initial || each.form == ArgumentForm::tensor || each.form == ArgumentForm::value) break;
        names.push_back(each.option.name);
    }
    return names;
}

const LayerArgument* find_argument(const LayerKind& kind, std::string_view name) {
    const auto found = std::ranges::find(kind.arguments, name, [](const LayerArgument& each) -> std::string_view { return each.option.name; });
    return found == kind.arguments.end() ? nullptr : &*found;
}

/// Whether a value may have been meant for an argument. `strict`: a number without a fraction is no number with one.
bool fits(const LayerArgument& argument, const Value& value, bool strict) {
    if (argument.form != ArgumentForm::plain) return value.whole() || value.as<ValueList>() != nullptr || (argument.form == ArgumentForm::padding && value.as<std::string>() != nullptr);
    const OptionValue& usual = argument.option.default_value;
    if (std::holds_alternative<bool>(usual)) return value.as<bool>() != nullptr;
    if (std::holds_alternative<std::int64_t>(usual)) return value.whole().has_value();
    if (std::holds_alternative<double>(usual)) return value.as<double>() != nullptr || (!strict && value.whole());
    return value.as<std::string>() != nullptr;
}

/// Texts of arguments, by name.
using ArgumentTexts = std::map<std::string_view, std::string>;

/// The call with names for what does not come without one, and `named` besides; nothing: an argument that the kind does
/// not have, or twice.
std::optional<std::string> named_call(const LayerKind& kind, const std::vector<std::string>& order, const std::vector<Value>& values, bool strict, ArgumentTexts texts) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool* flag = values[i].as<bool>();
        const std::string name = i < order.size() ? order[i] : flag != nullptr && !kind.weighted ? "inplace" : "?";
        if (name.empty()) {
            const auto* sizes = values[i].as<ValueList>();
            if (sizes != nullptr && sizes->size() > 1 && find_argument(kind, "dims") != nullptr) texts["dims"] = std::to_string(sizes->size());
            continue;
        }
        const LayerArgument* argument = find_argument(kind, name);
        const bool is_usual = flag != nullptr && (name == "inplace" || (name == "batch_first" && *flag));
        if (argument == nullptr && is_usual) continue;
        if (argument == nullptr || !fits(*argument, values[i], strict)) return {};
        if (!texts.emplace(argument->option.name, brief(values[i])).second) return {};
    }
    std::string text, named;
    for (const LayerArgument& each : kind.arguments) {
        const auto given = texts.find(each.option.name);
        if (given == texts.end() && each.required) return {};
        if (given == texts.end()) continue;
        if (each.positional)
            text += (text.empty() ? "" : ", ") + given->second;
        else
            named += ", " + each.option.name + '=' + given->second;
    }
    text += text.empty() && !named.empty() ? named.substr(2) : named;
    return text.empty() ? kind.name : kind.name + '(' + text + ')';
}

/// Whether a number is the size of a layer's input that PyTorch takes. Nothing: the line does not name its input.
std::optional<bool> is_size_of_input(const Statement& statement, const Value& value, const Surroundings& in) {
    const std::string_view name = statement.from.size() == 1 ? statement.from.front().fixed() : std::string_view();
    const TensorType* type = name.empty() ? nullptr : in.tensor(name);
    if (type == nullptr || type->rank() < 2 || !value.whole()) return {};
    const Size wanted{*value.whole(), Size::Symbol::none};
    return type->sizes[1] == wanted || type->sizes.back() == wanted;
}

/// More arguments without a name than the kind takes: most often PyTorch's, which begin with sizes of the input. The
/// suggestion means the same.
[[noreturn]] void too_many(const LayerKind& kind, const Statement& statement, Evaluator& evaluator, const Surroundings& in) {
    if (in.is_reported(statement.callee->place)) throw Unknown{};
    const auto known = positional(kind);
    const std::vector<std::string> order = order_of_arguments(kind, true);
    std::vector<Value> values;
    ArgumentTexts named;
    std::string call;
    for (const Argument& argument : statement.arguments) {
        if (!argument.name.empty()) {
            const LayerArgument& takes = named_argument(kind, argument, in);
            named[takes.option.name] = takes.form == ArgumentForm::value ? argument.value.text : brief(evaluator.evaluate(argument.value, in, words_of(takes)));
            continue;
        }
        const LayerArgument* takes = values.size() < order.size() ? find_argument(kind, order[values.size()]) : nullptr;
        const auto words = takes != nullptr ? words_of(*takes) : std::span<const std::string>();
        values.push_back(evaluator.evaluate(argument.value, in, words.empty() ? initial_words() : words));
        call += (call.empty() ? "(" : ", ") + brief(values.back());
    }
    call = kind.name + call + ')';
    const TextPlace place = statement.callee->place;
    const auto first = std::ranges::find(order, std::string());
    const auto size_at = static_cast<std::size_t>(first - order.begin());
    const bool has_size = first != order.end() && size_at < values.size();
    const auto meant = named_call(kind, order, values, false, named);
    std::optional<std::string> other;
    if (has_size && !is_size_of_input(statement, values[size_at], in).value_or(false)) other = named_call(kind, order_of_arguments(kind, false), values, true, named);
    if (!meant && !other) {
        std::vector<std::string> names;
        for (const LayerArgument& each : kind.arguments) names.push_back(each.option.name);
        throw Failure{place, names.empty() ? msg("{}: {} takes no arguments.", call, kind.name) : msg("{}: too many arguments without a name. The arguments of {} are {}.", call, kind.name, join(names)), {}};
    }
    const std::string write = meant ? *meant : *other, names = joined_names(known);
    if (known.empty())
        throw Failure{place, has_size ? msg("{}: nothing comes without a name; sizes of the input follow from it. Write {}.", call, write)
                                      : msg("{}: nothing comes without a name. Write {}.", call, write), {}};
    if (has_size && meant && other)
        throw Failure{place, known.size() == 1 ? msg("{}: {} alone comes without a name; sizes of the input follow from it. Write {}; or {}, if {} is no size of the input.", call, names, write, *other, brief(values[size_at]))
                                               : msg("{}: {} come without names; sizes of the input follow from it. Write {}; or {}, if {} is no size of the input.", call, names, write, *other, brief(values[size_at])), {}};
    if (has_size && meant)
        throw Failure{place, known.size() == 1 ? msg("{}: {} alone comes without a name; sizes of the input follow from it. Write {}.", call, names, write)
                                               : msg("{}: {} come without names; sizes of the input follow from it. Write {}.", call, names, write), {}};
    throw Failure{place, known.size() == 1 ? msg("{}: {} alone comes without a name. Write {}.", call, names, write)
                                           : msg("{}: {} come without names. Write {}.", call, names, write), {}};
}

}  // namespace

LayerArguments bind_arguments(const LayerKind& kind, const Statement& statement, Evaluator& evaluator, const Surroundings& in) {
    LayerArguments::Table::Entries bound;
    bound.reserve(statement.arguments.size());
    const auto ordered = positional(kind);
    const bool takes_rest = !ordered.empty() && ordered.back()->form == ArgumentForm::rest;
    std::size_t unnamed = 0;
    for (const Argument& argument : statement.arguments) {
        if (argument.name.empty() && !takes_rest && unnamed == ordered.size()) too_many(kind, statement, evaluator, in);
        const LayerArgument& takes = !argument.name.empty() ? named_argument(kind, argument, in) : takes_rest ? *ordered.back() : *ordered[unnamed++];
        const bool names_value = takes.form == ArgumentForm::value;
        Value value = names_value ? Value{} : evaluator.evaluate(argument.value, in, words_of(takes));
        const bool one_of_rest = argument.name.empty() && takes_rest;
        if (one_of_rest && value.as<ValueList>() == nullptr) value = {ValueList{value}};
        const auto earlier = std::ranges::find(bound, takes.option.name, &LayerArguments::Table::Entry::first);
        if (earlier != bound.end() && !one_of_rest) throw Failure{argument.place, msg("{} is given twice.", takes.option.name), {}};
        LayerArguments::Given given = names_value ? value_name(takes, argument.value) : ArgumentReader(kind, takes, argument.value.place).read(value);
        if (earlier == bound.end()) {
            bound.emplace_back(takes.option.name, std::move(given));
        } else {
            auto& all = std::get<std::vector<std::int64_t>>(earlier->second.value);
            const auto& more = std::get<std::vector<std::int64_t>>(given.value);
            all.insert(all.end(), more.begin(), more.end());
            if (all.size() > Limits::list) throw Failure{argument.place, msg("A list of more than {} items.", Limits::list), {}};
        }
    }
    for (const LayerArgument& argument : kind.arguments)
        if (argument.required && std::ranges::find(bound, argument.option.name, &LayerArguments::Table::Entry::first) == bound.end())
            throw Failure{statement.callee->place, msg("{}: {} is missing.", kind.name, argument.option.name), {}};
    return {LayerArguments::Table(std::move(bound), &kind.defaults)};
}

void check_argument_names(const LayerKind& kind, const Statement& statement, const Surroundings& in) {
    for (const Argument& argument : statement.arguments)
        if (!argument.name.empty()) named_argument(kind, argument, in);
}

std::string to_string(const InitialRule& rule) {
    ValueCall call{rule.rule, {}};
    for (const double number : rule.numbers) call.arguments.push_back({number});
    for (const std::string& word : rule.words) call.arguments.push_back({word});
    return call.arguments.empty() ? call.name : to_string(Value{std::move(call)});
}

namespace {

std::string written(const LayerArgument& argument, const LayerArguments::Given& given) {
    if (argument.form == ArgumentForm::initial) return to_string(given.initial);
    if (argument.form == ArgumentForm::tensor || argument.form == ArgumentForm::value) return given.reference;
    std::string text;
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&given.value)) {
        const bool equal = std::ranges::adjacent_find(*list, std::ranges::not_equal_to{}) == list->end();
        const bool sized = argument.form == ArgumentForm::sizes || argument.form == ArgumentForm::padding;
        if (sized && list->empty()) return "same";
        if ((sized && equal) || list->size() == 1) return std::to_string(list->front());
        ValueList items;
        for (const std::int64_t each : *list) items.push_back({each});
        text = to_string(Value{std::move(items)});
        return argument.form == ArgumentForm::rest ? text.substr(1, text.size() - 2) : text;
    }
    std::visit([&](const auto& each) {
        if constexpr (requires { Value{each}; }) text = to_string(Value{each});
    }, given.value);
    return text;
}

}  // namespace

std::vector<ArgumentText> argument_texts(const LayerKind& kind, const LayerArguments& arguments) {
    std::vector<ArgumentText> out;
    for (const LayerArgument& argument : kind.arguments) {
        const auto& given = arguments.all.find(argument.option.name)->second;
        out.push_back({argument, written(argument, given), given.is_default});
    }
    return out;
}

std::string call_text(const LayerKind& kind, const LayerArguments& arguments) {
    std::string text;
    for (const LayerArgument& argument : kind.arguments) {
        const auto& given = arguments.all.find(argument.option.name)->second;
        if (given.is_default) continue;
        text += (text.empty() ? "" : ", ") + (argument.positional ? std::string() : argument.option.name + "=") + written(argument, given);
    }
    return text.empty() ? kind.name : kind.name + '(' + text + ')';
}

}  // namespace engine::network
