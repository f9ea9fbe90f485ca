#pragma once

#include <QVBoxLayout>
#include <QWidget>
#include <vector>

#include "benchmarks/pair_bars.h"
#include "models/benchmark_book.h"

namespace ui {

class Theme;

/// Measurements by model: for each precision its bars beside FP32's, and in one sentence why it
/// pays or not.
class BenchmarkView final : public QWidget {
    Q_OBJECT
public:
    /// On paper the links to the figures are left out.
    enum class Medium { screen, paper };

    explicit BenchmarkView(const Theme* theme, Medium medium, QWidget* parent = nullptr);

    /// In the order in which they stand; those of one model follow one another.
    void show(const std::vector<BenchmarkResult>& results);

private:
    void addModel(const BenchmarkResult& first);
    void addResult(const BenchmarkResult& result, const BarScale& scale);
    QLayout* makeSentence(const engine::PayOff& row);

    const Theme* theme_;
    Medium medium_;
    QVBoxLayout* column_;
    QWidget* body_ = nullptr;  ///< made anew for other results
};

}  // namespace ui
