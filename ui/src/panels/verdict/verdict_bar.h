#pragma once

#include <QFrame>
#include <QVBoxLayout>

#include "feed/run_track.h"
#include "panels/verdict/verdict_line.h"
#include "view/context.h"

namespace ui {

struct BenchmarkResult;

/// The engine's verdict on each run compared with the first one, with its evidence a click away:
/// one verdict in two lines, several in a line each. A text that needs more gets more; the height
/// does not shrink again until the width or the runs change.
class VerdictBar final : public QFrame {
    Q_OBJECT
public:
    explicit VerdictBar(const Context& context, QWidget* parent = nullptr);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// Gives each verdict the height of its text.
    void fit();
    void rebuild();
    void refresh();
    void showOne(const QString& headline, const QString& hint);
    VerdictText verdictOn(const RunTrack& baseline, const RunTrack& other) const;
    /// The measurement of the run's settings, which says why its precision does not pay; else null.
    const BenchmarkResult* measuredReason(const RunTrack& other) const;
    /// Opens the page Benchmarks with the settings of this line's run chosen.
    void measure(const VerdictLine* line);

    Context context_;
    QVBoxLayout* column_;
    std::vector<VerdictLine*> lines_;
    std::vector<int> heights_;  ///< the greatest so far, of each line
    bool laidOut_ = false;
};

}  // namespace ui
