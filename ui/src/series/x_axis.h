#pragma once

#include <QVector>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ui {

/// The unit of the x axis of all plots.
/// `clock` counts the time since the start of the run, pauses and other runs' turns included.
enum class XKind { step, update, epoch, sample, time, clock };

/// Maps between the steps of one run (from 1; 0 is the start) and x values in updates, epochs,
/// samples or seconds, all of which grow with the step. Stores the values of every n-th row, at
/// most 32,768 of them, and reads those between from the record where they are visible. GUI thread.
class RowAxis {
public:
    /// Fills `out` with a column (update, sample, time or clock) of rows [first, first +
    /// out.size()). Clock: seconds since any moment, not above 0 for a run that recorded none.
    using Source = std::function<void(XKind, std::int64_t first, std::span<double> out)>;
    static constexpr std::size_t maxMarks = std::size_t{1} << 15;

    explicit RowAxis(Source source, std::size_t most = maxMarks);

    /// The run has `rows` rows, all of which can be read.
    void grow(std::int64_t rows);
    std::int64_t rows() const { return rows_; }
    /// 0: unknown; an epoch then counts as one step.
    void setStepsPerEpoch(double steps) { stepsPerEpoch_ = steps; }

    /// False if the first row has no clock: an earlier version recorded it.
    bool hasClock() const { return hasClock_; }

    /// x of a step. Beyond the last row it continues at the run's mean rate.
    double at(XKind kind, double step) const;
    /// The first step that reaches x, with a fraction; the inverse of at().
    double stepAt(XKind kind, double x) const;
    /// Replaces ascending steps by their x values, in linear time. Exact if there are few rows
    /// between the first and the last step, else within a row's share of a pixel.
    void map(XKind kind, QVector<double>& steps) const;

private:
    struct Mark {
        double updates = 0;
        double samples = 0;
        double seconds = 0;
        double clock = 0;
    };
    void values(XKind kind, std::int64_t first, std::span<double> out) const;
    void findStart();
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
    double start_ = 0;  ///< on the clock
    bool hasClock_ = true;
    std::vector<Mark> marks_{Mark{}};  ///< of steps 0, stride, 2 stride ...
    Mark last_;                        ///< of the last row
};

}  // namespace ui
