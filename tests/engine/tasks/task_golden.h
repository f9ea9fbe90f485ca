#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model_golden.h"
#include "task_step.h"

// Compares training steps with PyTorch's, in each precision of the CPU. The allowed differences are
// stored with the figures: the script derives them from the type's unit roundoff and the lengths of
// the sums, propagated through the network.
namespace engine::test {

/// Numbers of one of the script's streams, times `factor`, plus `offset`.
inline Tensor drawn(std::uint32_t stream, const Shape& shape, double factor = 1,
                    double offset = 0) {
    std::vector<double> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = uniform(stream, static_cast<std::uint32_t>(i)) * factor + offset;
    return Tensor::of(values, shape, DType::f32, Device{});
}

/// A file of golden steps, written by tests/peer/task_golden.py or a similar script.
class TaskGolden {
public:
    explicit TaskGolden(const std::string& name) : file_(name) {}

    const std::string& text(const std::string& key) const { return file_.text(key); }
    double number(const std::string& key) const { return std::stod(text(key)); }
    std::vector<std::string> list(const std::string& key) const { return words(text(key)); }
    std::vector<std::int64_t> numbers(const std::string& key) const {
        std::vector<std::int64_t> out;
        for (const auto& word : list(key)) out.push_back(std::stoll(word));
        return out;
    }
    std::vector<double> figures(const std::string& key) const { return file_.values(key); }

    /// The script's settings, with one thread.
    RunConfig settings(const std::string& precision) const {
        RunConfig config;
        config.precision.preset = precision;
        config.scaler.init_scale = number("loss_scale");
        config.schedule.kind = "constant";
        config.threads = 1;
        return config;
    }
    /// The script's weight() for each parameter that it lists.
    TensorMap weights(const std::string& kind) const {
        TensorMap out;
        std::uint32_t stream = 1;
        for (const auto& line : lines(text(kind + ".parameters"))) {
            const std::vector<std::string> parts = words(line);
            Shape shape;
            for (std::size_t i = 1; i < parts.size(); ++i) shape.push_back(std::stoll(parts[i]));
            const double gain = number(kind + ".gain");
            out[parts[0]] =
                shape.rank() == 1
                    ? drawn(stream, shape, 0.25, 0.5)
                    : drawn(stream, shape, gain * std::sqrt(3 / static_cast<double>(shape[1])));
            ++stream;
        }
        return out;
    }

private:
    GoldenFile file_;
};

inline double norm_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
}

/// Compares a tensor with [norm, its bound, bound of the stored elements' difference, stored
/// elements].
inline void expect_tensor(const Tensor& tensor, const std::vector<double>& figures) {
    const std::vector<double> values = tensor.values();
    const std::vector<double> expected(figures.begin() + 3, figures.end());
    std::vector<double> difference;
    for (std::size_t i = 0; i < expected.size(); ++i)
        difference.push_back(values.at(i * values.size() / expected.size()) - expected[i]);
    EXPECT_NEAR(norm_of(values), figures[0], figures[1]);
    EXPECT_LE(norm_of(difference), figures[2]) << "elements, of norm " << norm_of(expected);
}

inline void expect_number(double value, const std::vector<double>& figures) {
    EXPECT_NEAR(value, figures[0], figures[1]);
}

inline void expect_gradients(const TaskGolden& golden, const StepResult& found,
                             const std::string& kind, const std::string& key) {
    for (const auto& line : lines(golden.text(kind + ".parameters"))) {
        const std::string name = "grad." + words(line).front();
        SCOPED_TRACE(name);
        expect_tensor(found.gradients.at(name), golden.figures(key + "/" + name));
    }
}

inline std::string label(const std::string& text) {
    std::string out = text;
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
}

}  // namespace engine::test
