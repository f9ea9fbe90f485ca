#include "network/values.h"

#include <algorithm>
#include <cmath>

#include "engine/base/near_name.h"
#include "engine/base/plain_text.h"
#include "network/initial.h"
#include "network/lines.h"

namespace engine::network {
namespace {

using Kind = Expression::Kind;

[[noreturn]] void fail(const Expression& at, Message text) { throw Failure{at.place, std::move(text), {}}; }

bool is_number(const Value& value) { return value.as<std::int64_t>() != nullptr || value.as<double>() != nullptr; }

double as_double(const Value& value) {
    const auto* whole = value.as<std::int64_t>();
    return whole != nullptr ? static_cast<double>(*whole) : *value.as<double>();
}

bool equal(const Value& a, const Value& b) {
    if (is_number(a) && is_number(b)) {
        const auto* x = a.as<std::int64_t>();
        const auto* y = b.as<std::int64_t>();
        return x != nullptr && y != nullptr ? *x == *y : as_double(a) == as_double(b);
    }
    if (const auto* x = a.as<bool>()) return b.as<bool>() != nullptr && *b.as<bool>() == *x;
    if (const auto* x = a.as<std::string>()) return b.as<std::string>() != nullptr && *b.as<std::string>() == *x;
    if (const auto* x = a.as<Size>()) return b.as<Size>() != nullptr && *b.as<Size>() == *x;
    const auto* x = a.as<ValueList>();
    const auto* y = b.as<ValueList>();
    return x != nullptr && y != nullptr && std::equal(x->begin(), x->end(), y->begin(), y->end(), equal);
}

std::size_t weight(const Value& value) {
    const auto* list = std::get_if<SharedList>(&value.data);
    return list != nullptr ? list->weight : 1;
}

/// Nothing where the result leaves the range.
std::optional<std::int64_t> whole_power(std::int64_t base, std::int64_t exponent) {
    std::int64_t result = 1;
    while (true) {
        if ((exponent & 1) != 0 && (__builtin_mul_overflow(result, base, &result) || result >= size_limit || result <= -size_limit)) return {};
        exponent >>= 1;
        if (exponent == 0) return result;
        if (std::abs(base) >= size_limit / 2 || __builtin_mul_overflow(base, base, &base)) return {};
    }
}

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// A whole result where there is one; nothing: compute in numbers, or out of range.
std::optional<Value> whole_result(std::int64_t a, Operator op, std::int64_t b) {
    std::int64_t result = 0;
    bool overflow = false;
    switch (op) {
        case Operator::add:
            overflow = __builtin_add_overflow(a, b, &result);
            break;
        case Operator::subtract:
            overflow = __builtin_sub_overflow(a, b, &result);
            break;
        case Operator::multiply:
            overflow = __builtin_mul_overflow(a, b, &result);
            break;
        case Operator::divide:
            if (b == 0 || a % b != 0) return {};
            result = a / b;
            break;
        case Operator::floor_divide:
            if (b == 0) return {};
            result = floor_divided(a, b);
            break;
        case Operator::remainder:
            if (b == 0) return {};
            result = a - b * floor_divided(a, b);
            break;
        case Operator::power: {
            if (b < 0) return {};
            const auto power = whole_power(a, b);
            overflow = !power;
            result = power.value_or(0);
            break;
        }
        default:
            return {};
    }
    if (overflow || result >= size_limit || result <= -size_limit) return Value{};
    return Value{result};
}

double number_result(double a, Operator op, double b) {
    switch (op) {
        case Operator::add:
            return a + b;
        case Operator::subtract:
            return a - b;
        case Operator::multiply:
            return a * b;
        case Operator::divide:
            return a / b;
        case Operator::floor_divide:
            return std::floor(a / b);
        case Operator::remainder:
            return a - b * std::floor(a / b);
        default:
            return std::pow(a, b);
    }
}

template <typename T>
bool compared(T a, Operator op, T b) {
    switch (op) {
        case Operator::less:
            return a < b;
        case Operator::at_most:
            return a <= b;
        case Operator::more:
            return a > b;
        default:
            return a >= b;
    }
}

const char* sign_text(Operator op) {
    static constexpr const char* signs[] = {"+", "-", "*", "/", "//", "%", "^", "==", "!=", "<", "<=", ">", ">="};
    return signs[static_cast<std::size_t>(op)];
}

void need_number(const Expression& at, const Value& value) {
    if (const auto* size = value.as<Size>())
        fail(at, size->symbol == Size::Symbol::batch
                     ? msg("The batch size N is symbolic; an expression needs a number.")
                     : msg("The window length T is symbolic; an expression needs a number. The last window of a text is shorter."));
    if (!is_number(value)) fail(at, msg("{} is not a number.", brief(value)));
}

constexpr std::size_t all_of_it = std::string::npos;

/// Ends soon after `most` bytes. The whole text reads back as the same value.
void append(std::string& out, const Value& value, std::size_t most) {
    const auto listed = [&](const ValueList& list) {
        for (std::size_t i = 0; i < list.size() && out.size() <= most; ++i) {
            if (i > 0) out += ", ";
            append(out, list[i], most);
        }
    };
    if (const auto* truth = value.as<bool>()) {
        out += *truth ? "true" : "false";
    } else if (const auto* whole = value.as<std::int64_t>()) {
        out += std::to_string(*whole);
    } else if (const auto* number = value.as<double>()) {
        constexpr double exact = 1e15;
        const bool whole_value = *number == std::floor(*number) && std::abs(*number) < exact;
        out += whole_value         ? std::to_string(static_cast<std::int64_t>(*number))
               : most == all_of_it ? shortest_text(*number)
                                   : detail::written(*number);
    } else if (const auto* word = value.as<std::string>()) {
        out += *word;
    } else if (const auto* size = value.as<Size>()) {
        out += to_string(*size);
    } else if (const auto* reference = value.as<ValueReference>()) {
        out += reference->path;
    } else if (const auto* list = value.as<ValueList>()) {
        out += '[';
        listed(*list);
        out += ']';
    } else if (const auto* call = value.as<ValueCall>()) {
        out += call->name + '(';
        listed(call->arguments);
        out += ')';
    } else {
        out += '?';
    }
}

/// Words that the option takes whose value, or an item of it, the expression is.
std::span<const std::string> words_of(const Expression& expression, const Surroundings& in) {
    const Expression* named = &expression;
    while (named->kind == Kind::item) named = &named->parts[0];
    const Value* variable = named->kind == Kind::path ? in.variable(named->text) : nullptr;
    return variable != nullptr && variable->words != nullptr ? std::span<const std::string>(*variable->words) : std::span<const std::string>();
}

Value computed(const Expression& at, const Value& a, Operator op, const Value& b) {
    if (op == Operator::equal) return {equal(a, b)};
    if (op == Operator::differs) return {!equal(a, b)};
    const auto* first = a.as<ValueList>();
    const auto* second = b.as<ValueList>();
    if (op == Operator::add && first != nullptr && second != nullptr) {
        ValueList joined = *first;
        joined.insert(joined.end(), second->begin(), second->end());
        return {std::move(joined)};
    }
    need_number(at, a);
    need_number(at, b);
    const auto* x = a.as<std::int64_t>();
    const auto* y = b.as<std::int64_t>();
    if (op >= Operator::less)
        return {x != nullptr && y != nullptr ? compared(*x, op, *y) : compared(as_double(a), op, as_double(b))};
    if (x != nullptr && y != nullptr)
        if (const auto whole = whole_result(*x, op, *y)) {
            if (!whole->known()) fail(at, msg("{} {} {} is out of range.", *x, sign_text(op), *y));
            return *whole;
        }
    const double result = number_result(as_double(a), op, as_double(b));
    if (!std::isfinite(result)) fail(at, msg("{} {} {} is not a finite number.", brief(a), sign_text(op), brief(b)));
    return {result};
}

}  // namespace

SharedList::SharedList(ValueList list) {
    for (const Value& each : list) {
        const auto* inner = std::get_if<SharedList>(&each.data);
        weight += inner != nullptr ? inner->weight : 1;
        if (inner != nullptr) depth = std::max(depth, inner->depth + 1);
    }
    items = std::make_shared<const ValueList>(std::move(list));
}

std::optional<std::int64_t> Value::whole() const {
    if (const auto* whole = as<std::int64_t>())
        return *whole < size_limit && *whole > -size_limit ? std::optional(*whole) : std::nullopt;
    const auto* number = as<double>();
    if (number == nullptr || *number != std::floor(*number) || std::abs(*number) >= static_cast<double>(size_limit)) return {};
    return static_cast<std::int64_t>(*number);
}

std::string to_string(const Value& value) {
    std::string out;
    append(out, value, all_of_it);
    return out;
}

std::string brief(const Value& value) {
    constexpr std::size_t most = 80;
    std::string out;
    append(out, value, most);
    return shortened(std::move(out));
}

Value Evaluator::evaluate(const Expression& expression, const Surroundings& in, std::span<const std::string> choices) {
    count(expression, 1);
    switch (expression.kind) {
        case Kind::whole:
            return {expression.whole};
        case Kind::number:
            return {expression.number};
        case Kind::truth:
            return {expression.whole != 0};
        case Kind::text:
            return {expression.text};
        case Kind::path:
            return path(expression, in, choices);
        case Kind::call:
            return call(expression, in, choices);
        case Kind::list:
        {
            Value list{values(expression, in)};
            count_list(expression, list);
            return list;
        }
        case Kind::item:
            return item(expression, in);
        case Kind::chain:
            return chain(expression, in);
        case Kind::negative: {
            const Value value = evaluate(expression.parts[0], in);
            need_number(expression, value);
            const auto* whole = value.as<std::int64_t>();
            return whole != nullptr ? Value{-*whole} : Value{-*value.as<double>()};
        }
        case Kind::negation:
            return {!truth(expression.parts[0], in)};
        case Kind::both:
            return {std::ranges::all_of(expression.parts, [&](const auto& part) { return truth(part, in); })};
        case Kind::either:
            return {std::ranges::any_of(expression.parts, [&](const auto& part) { return truth(part, in); })};
        case Kind::choice:
            return evaluate(expression.parts[truth(expression.parts[1], in) ? 0 : 2], in, choices);
        case Kind::unknown:
            break;
    }
    throw Unknown{};
}

void Evaluator::count(const Expression& expression, std::size_t operators) {
    evaluated_ += static_cast<std::int64_t>(operators);
    if (evaluated_ > most_operators) throw Overrun{{expression.place, msg("More than {} operators are computed here.", most_operators), {}}};
}

void Evaluator::count_list(const Expression& expression, const Value& list) {
    const auto* shared = std::get_if<SharedList>(&list.data);
    if (shared == nullptr) return;
    count(expression, shared->items->size());
    if (shared->items->size() > Limits::list) fail(expression, msg("A list of more than {} items.", Limits::list));
    if (shared->weight > Limits::inner_items)
        fail(expression, msg("A list of more than {} items, with those of the lists in it.", Limits::inner_items));
    if (shared->depth > Limits::list_depth) fail(expression, msg("More than {} lists inside one another.", Limits::list_depth));
}

bool Evaluator::truth(const Expression& expression, const Surroundings& in) {
    const Value value = evaluate(expression, in);
    const bool* truth = value.as<bool>();
    if (truth == nullptr) fail(expression, msg("{} is neither true nor false.", brief(value)));
    return *truth;
}

std::int64_t Evaluator::whole(const Expression& expression, const Surroundings& in) {
    const Value value = evaluate(expression, in);
    need_number(expression, value);
    const auto whole = value.whole();
    if (!whole) fail(expression, msg("{} is not a whole number.", brief(value)));
    return *whole;
}

ValueList Evaluator::values(const Expression& expression, const Surroundings& in) {
    if (expression.parts.size() > Limits::list) fail(expression, msg("A list of more than {} items.", Limits::list));
    ValueList list;
    list.reserve(expression.parts.size());
    for (const Expression& part : expression.parts) list.push_back(evaluate(part, in));
    return list;
}

Value Evaluator::path(const Expression& expression, const Surroundings& in, std::span<const std::string> choices) {
    const std::string& text = expression.text;
    const bool is_choice = std::ranges::find(choices, text) != choices.end();
    if (const Value* variable = in.variable(text)) {
        if (!variable->known()) throw Unknown{};
        if (is_choice && noted_.emplace(expression.place.line, expression.place.column).second)
            notes_.push_back({expression.place, msg("{} is the variable here, not the word. Write \"{}\" for the word.", text, text), {}, true});
        return *variable;
    }
    if (const std::size_t dot = text.rfind('.'); dot != text.npos) {
        const std::string_view property = std::string_view(text).substr(dot + 1);
        static constexpr std::pair<std::string_view, int> dimensions[] = {
            {"channels", 1}, {"height", -2}, {"width", -1}, {"length", 1}};
        const auto* dimension = std::ranges::find(dimensions, property, &std::pair<std::string_view, int>::first);
        const TensorType* tensor = in.tensor(std::string_view(text).substr(0, dot));
        if (tensor != nullptr && dimension != std::end(dimensions)) {
            const int at = dimension->second < 0 ? tensor->rank() + dimension->second : dimension->second;
            if (at < 1 || at >= tensor->rank())
                fail(expression, msg("{}: the value is {} and has no {}.", text, to_string(tensor->sizes), property));
            const Size& size = tensor->sizes[static_cast<std::size_t>(at)];
            return size.is_number() ? Value{size.number} : Value{size};
        }
        if (tensor != nullptr) return {ValueReference{text}};
    }
    if (is_choice) return {text};
    if (in.tensor(text) != nullptr)
        fail(expression, msg("{} is a value of the network, not a number. Its sizes are {}.channels, .height, .width and .length.", text, text));
    if (in.is_reported(expression.place)) throw Unknown{};
    if (text == "above" || text.starts_with("above."))
        fail(expression, msg("{}: above is a value behind from alone. Give the line above a name, as in x = ReLU, and write x{}.", text, text.size() > 5 ? text.substr(5) : ".channels"));
    std::vector<std::string> known = in.known_names();
    known.insert(known.end(), choices.begin(), choices.end());
    const std::string near = nearest_name(text, known);
    if (near.empty()) fail(expression, msg("{}: there is no such value, option or parameter here.", text));
    throw Failure{expression.place, msg("{}: there is no such value, option or parameter here. Did you mean {}?", text, near), near};
}

Value Evaluator::call(const Expression& expression, const Surroundings& in, std::span<const std::string> choices) {
    if (expression.text == "size") {
        const Value value = expression.parts.size() == 1 ? evaluate(expression.parts[0], in) : Value{};
        const auto* list = value.as<ValueList>();
        if (list == nullptr) fail(expression, msg("size takes one list: size([1, 2]) is 2."));
        return {static_cast<std::int64_t>(list->size())};
    }
    if (std::ranges::find(choices, expression.text) == choices.end()) {
        const auto rules = initial_rules();
        const bool takes_rule = choices.size() == rules.size() && std::ranges::equal(choices, rules);
        fail(expression, takes_rule ? msg("{}: there is no such function here. The rules for initial weights are {}.", expression.text, join(rules))
                                    : msg("{}: there is no such function here. The only one is size, the number of items of a list.", expression.text));
    }
    ValueCall out{expression.text, {}};
    for (const Expression& part : expression.parts) out.arguments.push_back(evaluate(part, in, initial_words()));
    return {std::move(out)};
}

Value Evaluator::item(const Expression& expression, const Surroundings& in) {
    Value value = evaluate(expression.parts[0], in);
    for (std::size_t i = 1; i < expression.parts.size(); ++i) {
        const auto* list = value.as<ValueList>();
        if (list == nullptr) fail(expression, msg("{} is not a list.", brief(value)));
        const std::int64_t index = whole(expression.parts[i], in);
        const auto count = static_cast<std::int64_t>(list->size());
        if (index < -count || index >= count)
            fail(expression.parts[i], msg("There is no item {} in a list of {}: the first is 0, the last {} or -1.", index, count, count - 1));
        Value chosen = (*list)[static_cast<std::size_t>(index < 0 ? index + count : index)];
        value = std::move(chosen);
    }
    return value;
}

Value Evaluator::chain(const Expression& expression, const Surroundings& in) {
    const bool compares = expression.operators.front() == Operator::equal || expression.operators.front() == Operator::differs;
    const auto operand = [&](std::size_t i) {
        return compares ? evaluate(expression.parts[i], in, words_of(expression.parts[1 - i], in)) : evaluate(expression.parts[i], in);
    };
    Value value = operand(0);
    for (std::size_t i = 0; i < expression.operators.size(); ++i) {
        if (i > 0) count(expression, 1);
        const Value next = operand(i + 1);
        if (compares) count(expression, std::min(weight(value), weight(next)));
        value = computed(expression, value, expression.operators[i], next);
        count_list(expression, value);
    }
    return value;
}

}  // namespace engine::network
