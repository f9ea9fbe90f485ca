#include "train/run_cost.h"

#include <cmath>
#include <cstdio>

namespace engine {
namespace {

std::string rounded(const char* format, double value) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

/// "13,540": a whole number with its thousands separated.
std::string grouped(double value) {
    const std::string digits = rounded("%.0f", value);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

double peak_bytes(const StepRecordReader& record) {
    const std::int64_t rows = record.size();
    return rows == 0 ? 0 : static_cast<double>(record.row(rows - 1).peak_bytes);
}

Message speed_words(double ratio) {
    if (ratio >= 2) return msg("{}× as fast", rounded("%.1f", ratio));
    const long percent = std::lround(100 * (ratio - 1));
    if (percent == 0) return msg("equally fast");
    return percent > 0 ? msg("{} % faster", percent) : msg("{} % slower", -percent);
}

Message memory_words(double ratio) {
    if (ratio >= 2) return msg("{}× the memory", rounded("%.1f", ratio));
    const long percent = std::lround(100 * (ratio - 1));
    if (percent == 0) return msg("the same memory");
    return percent > 0 ? msg("{} % more memory", percent) : msg("{} % less memory", -percent);
}

bool on_cpu(const RunFigures& run) { return run.device == "cpu"; }

}  // namespace

std::vector<Message> cost_of(const RunFigures& baseline, const RunFigures& other) {
    const double speed = other.speed.samples_per_s / baseline.speed.samples_per_s;
    const double memory = peak_bytes(other.record) / peak_bytes(baseline.record);
    if (!std::isfinite(speed) || !std::isfinite(memory)) return {};
    return {speed_words(speed), memory_words(memory)};
}

std::vector<Message> cost_evidence(const RunFigures& baseline, const RunFigures& other) {
    if (cost_of(baseline, other).empty()) return {};
    std::vector<Message> sentences = {
        msg("{} samples/s against {}: the median of steps {} to {}.",
            grouped(other.speed.samples_per_s), grouped(baseline.speed.samples_per_s),
            other.speed.first_step, other.speed.last_step),
        msg("Peak memory {} MB against {} MB.", rounded("%.3g", peak_bytes(other.record) / 1e6),
            rounded("%.3g", peak_bytes(baseline.record) / 1e6))};
    if (on_cpu(baseline) || on_cpu(other)) {
        sentences.push_back(msg("The speed of a CPU says nothing about the speed of a GPU."));
    }
    return sentences;
}

}  // namespace engine
