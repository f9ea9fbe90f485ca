#include <limits>

#include "engine/base/error.h"
#include "engine/lab/lesson_expression.h"
#include "engine/number/number_arithmetic.h"
#include "engine/number/number_format.h"

namespace engine {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

const NumberFormat& format_of(const std::string& name) {
    const NumberFormat* format = find_number_format(name);
    if (!format) throw Error(ErrorCode::value, msg("There is no number format {}.", name));
    return *format;
}

double value_or_unknown(const NumberFormat& format, const std::optional<std::uint32_t>& bits) {
    return bits ? from_bits(format, *bits) : no_number;
}

double bits_result(const LessonBlockNumber& block, std::string_view name) {
    const NumberFormat& format = format_of(block.format);
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
    const NumberFormat& format = format_of(block.format);
    const double term = rounded(format, block.number);
    if (name == "term") return term;
    if (name == "exact") return term * static_cast<double>(block.count);
    SumSettings settings{.term = block.number, .terms = block.count, .format = &format};
    if (!block.accumulator.empty()) settings.accumulator = &format_of(block.accumulator);
    const SumResult result = sum(settings);
    if (name == "value") return result.sum;
    return result.stalls_after ? static_cast<double>(*result.stalls_after) : no_number;
}

}  // namespace

std::vector<std::string> result_names(const LessonBlockNumber& block) {
    if (block.is_sum) return {"value", "exact", "term", "stalls_after"};
    return {"value", "error", "gap", "above", "below", "bits"};
}

double result_of(const LessonBlockNumber& block, std::string_view name) {
    for (const auto& known : result_names(block))
        if (known == name) return block.is_sum ? sum_result(block, name) : bits_result(block, name);
    throw Error(ErrorCode::value, msg("{} has no result {}.", block.id, std::string(name)));
}

}  // namespace engine
