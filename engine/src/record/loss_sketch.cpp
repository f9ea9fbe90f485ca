#include "engine/record/loss_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "engine/base/error.h"
#include "engine/record/step_record.h"

namespace engine {
namespace {

constexpr std::int64_t most_averaged = 64;

float mean_of_finite(std::span<const double> losses) {
    double sum = 0;
    int count = 0;
    for (const double loss : losses) {
        if (!std::isfinite(loss)) continue;
        sum += loss;
        ++count;
    }
    return count == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(sum / count);
}

}  // namespace

std::vector<float> loss_sketch(const std::filesystem::path& run_folder, int most) {
    std::vector<float> out;
    try {
        const auto record = StepRecordReader::open(run_folder);
        const std::int64_t rows = record.size();
        const std::int64_t parts = std::min<std::int64_t>(most, rows);
        if (parts < 2) return out;
        std::array<double, most_averaged> losses{};
        for (std::int64_t part = 0; part < parts; ++part) {
            const std::int64_t end = rows * (part + 1) / parts;
            const std::int64_t first = std::max(rows * part / parts, end - most_averaged);
            const auto some = std::span(losses).first(static_cast<std::size_t>(end - first));
            record.column(&StepRecord::loss, first, some);
            out.push_back(mean_of_finite(some));
        }
    } catch (const Error&) {
        out.clear();
    }
    return out;
}

}  // namespace engine
