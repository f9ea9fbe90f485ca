#pragma once

#include <QVector>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ui {

/// What the x axis of all plots counts.
enum class XKind { step, update, epoch, sample, time };

/// Where the steps of one run lie on x axes that count something else: the run's own mapping
/// between steps (from 1, 0 is the start) and updates, epochs, samples or seconds. All of them grow
/// with the step. Keeps the values of every n-th row, at most 32,768 of them; what lies between is
/// read from the record where it is visible. GUI thread.
class RowAxis {
public:
    /// Fills `out` with a column (update, sample or time) of rows [first, first + out.size()).
    using Source = std::function<void(XKind, std::int64_t first, std::span<double> out)>;
    static constexpr std::size_t mostMarks = std::size_t{1} << 15;

    explicit RowAxis(Source source, std::size_t most = mostMarks);

    /// The run has `rows` rows, all of which can be read.
    void grow(std::int64_t rows);
    std::int64_t rows() const { return rows_; }
    /// 0: unknown; an epoch then counts as one step.
    void setStepsPerEpoch(double steps) { stepsPerEpoch_ = steps; }

    /// x of a step. Beyond the last row it goes on at the run's mean rate.
    double at(XKind kind, double step) const;
    /// The first step that reaches x, with a fraction; the inverse of at().
    double stepAt(XKind kind, double x) const;
    /// Replaces steps, which ascend, by their x. Costs by their number; exact where few rows lie
    /// between the first and the last, else within a row's share of a pixel.
    void map(XKind kind, QVector<double>& steps) const;

private:
    struct Mark {
        double updates = 0;
        double samples = 0;
        double seconds = 0;
    };
    Mark read(std::int64_t row) const;
    static double of(const Mark& mark, XKind kind);
    double scale(XKind kind) const;
    double end(XKind kind) const;
    double between(XKind kind, double step) const;
    /// Values of steps [first, last], 0 for step 0.
    std::vector<double> steps(XKind kind, std::int64_t first, std::int64_t last) const;

    Source source_;
    std::size_t most_;
    std::int64_t rows_ = 0;
    std::int64_t stride_ = 64;
    double stepsPerEpoch_ = 0;
    std::vector<Mark> marks_{Mark{}};  ///< of steps 0, stride, 2 stride ...
    Mark last_;                        ///< of the last row
};

}  // namespace ui
