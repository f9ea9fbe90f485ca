#include "engine/lab/lesson_expression.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/number/number_arithmetic.h"
#include "engine/number/number_format.h"
#include "lab/expression_node.h"

namespace engine {
namespace {

using Node = LessonExpression::Node;
using Kind = Node::Kind;
using Series = std::vector<double>;
using Found = std::optional<LessonValue>;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

bool truth(double value) { return value != 0 && !std::isnan(value); }

double combine(LessonOperator op, double a, double b) {
    switch (op) {
        case LessonOperator::add:
            return a + b;
        case LessonOperator::subtract:
            return a - b;
        case LessonOperator::multiply:
            return a * b;
        case LessonOperator::divide:
            return a / b;
        case LessonOperator::less:
            return a < b;
        case LessonOperator::at_most:
            return a <= b;
        case LessonOperator::more:
            return a > b;
        case LessonOperator::at_least:
            return a >= b;
        case LessonOperator::equal:
            return a == b;
        case LessonOperator::differs:
            return a != b;
        case LessonOperator::both:
            return truth(a) && truth(b);
        case LessonOperator::either:
            return truth(a) || truth(b);
    }
    return unknown;
}

/// Combines step by step. A number applies to every step of a series; of two series the longer is
/// cut.
LessonValue combine(LessonOperator op, const LessonValue& a, const LessonValue& b) {
    if (const auto* text = std::get_if<std::string>(&a))
        return combine(op, *text == std::get<std::string>(b) ? 1.0 : 0.0, 1.0);
    const auto* x = std::get_if<Series>(&a);
    const auto* y = std::get_if<Series>(&b);
    if (!x && !y) return combine(op, std::get<double>(a), std::get<double>(b));
    const std::size_t size = x && y ? std::min(x->size(), y->size()) : x ? x->size() : y->size();
    Series out(size);
    for (std::size_t i = 0; i < size; ++i)
        out[i] = combine(op, x ? (*x)[i] : std::get<double>(a), y ? (*y)[i] : std::get<double>(b));
    return out;
}

template <typename F>
LessonValue each(const LessonValue& value, F&& f) {
    if (const auto* number = std::get_if<double>(&value)) return f(*number);
    Series out = std::get<Series>(value);
    for (double& x : out) x = f(x);
    return out;
}

/// Mean of the values that are not NaN, which in a record means "not measured"; NaN without any.
double measured_mean(const Series& values) {
    double sum = 0;
    std::size_t count = 0;
    for (const double x : values)
        if (!std::isnan(x)) sum += x, ++count;
    return count > 0 ? sum / static_cast<double>(count) : unknown;
}

/// The mean at each step of the last `steps` measured values; NaN before that many steps.
Series trailing_means(const Series& values, std::size_t steps) {
    Series out(values.size(), unknown);
    long double sum = 0;
    std::size_t measured = 0, infinite = 0;
    const auto count = [&](double x, bool enters) {
        if (std::isnan(x)) return;
        (enters ? ++measured : --measured);
        if (std::isinf(x))
            (enters ? ++infinite : --infinite);
        else
            sum += enters ? x : -x;
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        count(values[i], true);
        if (i >= steps) count(values[i - steps], false);
        if (i + 1 < steps || measured == 0) continue;
        out[i] = infinite > 0 ? std::numeric_limits<double>::infinity()
                              : static_cast<double>(sum / static_cast<long double>(measured));
    }
    return out;
}

/// The step, from 1, at which the condition was first met; NaN if it never was.
double first_step(const Series& condition) {
    const auto at = std::ranges::find_if(condition, truth);
    return at == condition.end() ? unknown : static_cast<double>(at - condition.begin() + 1);
}

template <typename Better>
double best_value(const Series& values, Better better) {
    double best = unknown;
    for (const double x : values)
        if (!std::isnan(x) && (std::isnan(best) || better(x, best))) best = x;
    return best;
}

class Evaluation {
public:
    Evaluation(const LessonMeasurements& measured, const EarlierChecks& checks)
        : measured_(measured), checks_(checks) {}

    Found evaluate(const Node& node) const {
        switch (node.kind) {
            case Kind::number:
                return LessonValue(node.number);
            case Kind::word:
                return LessonValue(node.name);
            case Kind::check:
                return earlier_value(node.name);
            case Kind::column:
                return LessonValue(measured_.column(node.name, node.key));
            case Kind::result:
                return as_value(measured_.result(node.name, node.key));
            case Kind::block:
                return LessonValue(block_result(node.block, node.key));
            case Kind::xray:
                return as_value(measured_.xray(node.name, node.argument, node.key));
            case Kind::skip:
                return measured_.skip(node.name, node.key);
            case Kind::binary:
                return evaluate_binary(node);
            default:
                break;
        }
        const Found input = evaluate(*node.inputs[0]);
        return input ? Found(evaluate_unary(node, *input)) : std::nullopt;
    }
    const EarlierCheck* check(const std::string& id) const {
        const auto at = std::ranges::find(checks_, id, &EarlierCheck::id);
        return at == checks_.end() ? nullptr : &*at;
    }

private:
    template <typename T>
    static Found as_value(const std::optional<T>& value) {
        return value ? Found(LessonValue(*value)) : std::nullopt;
    }
    Found earlier_value(const std::string& id) const {
        const EarlierCheck* found = check(id);
        return found ? found->value : std::nullopt;
    }
    Found evaluate_binary(const Node& node) const {
        const Found a = evaluate(*node.inputs[0]), b = evaluate(*node.inputs[1]);
        if (!a || !b) return std::nullopt;
        return combine(node.op, *a, *b);
    }
    static LessonValue evaluate_unary(const Node& node, const LessonValue& input) {
        switch (node.kind) {
            case Kind::negative:
                return each(input, [](double x) { return -x; });
            case Kind::negation:
                return each(input, [](double x) { return truth(x) ? 0.0 : 1.0; });
            case Kind::isnan:
                return each(input, [](double x) { return std::isnan(x) ? 1.0 : 0.0; });
            default:
                return evaluate_series(node, std::get<Series>(input));
        }
    }
    static LessonValue evaluate_series(const Node& node, const Series& values) {
        switch (node.kind) {
            case Kind::mean:
                return measured_mean(values);
            case Kind::trailing_mean:
                return trailing_means(values, static_cast<std::size_t>(node.number));
            case Kind::first:
                return first_step(values);
            case Kind::last:
                return values.empty() ? unknown : values.back();
            case Kind::min:
                return best_value(values, std::less<>());
            case Kind::max:
                return best_value(values, std::greater<>());
            case Kind::count:
                return static_cast<double>(std::ranges::count_if(values, truth));
            default:
                return unknown;
        }
    }

    const LessonMeasurements& measured_;
    const EarlierChecks& checks_;
};

/// Whether nothing that the expression reads can change any more.
bool all_final(const Node& node, const LessonMeasurements& measured, const Evaluation& evaluation) {
    if (node.kind == Kind::check) {
        const EarlierCheck* check = evaluation.check(node.name);
        return check && check->final;
    }
    const bool reads_run =
        node.kind == Kind::column || node.kind == Kind::result || node.kind == Kind::skip;
    if (reads_run && !measured.ended(node.name)) return false;
    return std::ranges::all_of(
        node.inputs, [&](const auto& input) { return all_final(*input, measured, evaluation); });
}

const NumberFormat& require_number_format(const std::string& name) {
    const NumberFormat* format = find_number_format(name);
    if (!format) throw Error(ErrorCode::value, msg("There is no number format {}.", name));
    return *format;
}

double value_or_unknown(const NumberFormat& format, const std::optional<std::uint32_t>& bits) {
    return bits ? from_bits(format, *bits) : unknown;
}

double bits_result(const LessonBlockNumber& block, std::string_view name) {
    const NumberFormat& format = require_number_format(block.format);
    const std::uint32_t bits = to_bits(format, block.number);
    const double value = from_bits(format, bits);
    if (name == "value") return value;
    if (name == "error") return value - block.number;
    if (name == "gap") return gap(format, bits);
    if (name == "above") return value_or_unknown(format, next_above(format, bits));
    if (name == "below") return value_or_unknown(format, next_below(format, bits));
    return static_cast<double>(bits);
}

double sum_result(const LessonBlockNumber& block, std::string_view name) {
    const NumberFormat& format = require_number_format(block.format);
    const double term = rounded(format, block.number);
    if (name == "term") return term;
    if (name == "exact") return term * static_cast<double>(block.count);
    SumSettings settings{.term = block.number, .terms = block.count, .format = &format};
    if (!block.accumulator.empty())
        settings.accumulator = &require_number_format(block.accumulator);
    const SumResult result = sum(settings);
    if (name == "value") return result.sum;
    return result.stalls_after ? static_cast<double>(*result.stalls_after) : unknown;
}

void add_runs(const Node& node, std::vector<std::string>& out) {
    const bool reads = node.kind == Kind::column || node.kind == Kind::result ||
                       node.kind == Kind::xray || node.kind == Kind::skip;
    if (reads && std::ranges::find(out, node.name) == out.end()) out.push_back(node.name);
    for (const auto& input : node.inputs) add_runs(*input, out);
}

}  // namespace

LessonExpression LessonExpression::parse(std::string_view text, const LessonNames& names) {
    LessonExpression out;
    out.text_ = text;
    out.root_ = parse_expression(text, names);
    out.type_ = out.root_->type;
    return out;
}

std::vector<std::string> LessonExpression::runs() const {
    std::vector<std::string> out;
    add_runs(*root_, out);
    return out;
}

std::optional<LessonValue> LessonExpression::value(const LessonMeasurements& measured,
                                                   const EarlierChecks& checks) const {
    return Evaluation(measured, checks).evaluate(*root_);
}

bool LessonExpression::is_final(const LessonMeasurements& measured,
                                const EarlierChecks& checks) const {
    const Evaluation evaluation(measured, checks);
    const Found found = evaluation.evaluate(*root_);
    if (!found) return false;
    const auto* number = std::get_if<double>(&*found);
    if (root_->kind == Kind::first && number && !std::isnan(*number)) return true;
    return all_final(*root_, measured, evaluation);
}

bool is_true(const LessonValue& value) {
    const auto* number = std::get_if<double>(&value);
    return number && truth(*number);
}

std::vector<std::string> result_names(const LessonBlockNumber& block) {
    if (block.is_sum) return {"value", "exact", "term", "stalls_after"};
    return {"value", "error", "gap", "above", "below", "bits"};
}

double block_result(const LessonBlockNumber& block, std::string_view name) {
    for (const auto& known : result_names(block))
        if (known == name) return block.is_sum ? sum_result(block, name) : bits_result(block, name);
    throw Error(ErrorCode::value, msg("{} has no result {}.", block.id, std::string(name)));
}

}  // namespace engine
