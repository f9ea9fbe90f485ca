#pragma once

#include <QVBoxLayout>
#include <QWidget>
#include <vector>

#include "benchmarks/pair_bars.h"
#include "models/benchmark_book.h"

namespace ui {

class Theme;

/// Measurements by model: the bars of FP32 once, below them those of each precision, and a sentence
/// that says why it pays or not.
class BenchmarkView final : public QWidget {
    Q_OBJECT
public:
    /// An exported picture leaves out the links to the figures.
    enum class Medium { screen, paper };

    explicit BenchmarkView(const Theme* theme, Medium medium, QWidget* parent = nullptr);

    /// Shows the results in this order. Those of one model must be adjacent.
    void show(const std::vector<BenchmarkResult>& results);

private:
    void addModel(const BenchmarkResult& first);
    void addResult(const BenchmarkResult& result, const BarScale& scale, bool first);
    QLayout* makeSentence(const engine::Speedup& row);

    const Theme* theme_;
    Medium medium_;
    QVBoxLayout* column_;
    QWidget* body_ = nullptr;  ///< recreated for other results
};

}  // namespace ui
