#pragma once

#include <QFrame>
#include <QLabel>
#include <QString>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>

#include "feed/run_track.h"
#include "view/context.h"

class QGridLayout;

namespace ui {

struct BenchmarkResult;

/// The evidence of a verdict as an HTML table: a row for each figure with its values in both runs,
/// then a row for each sentence. The figures are those of the cards.
QString evidenceTable(const RunTrack& baseline, const RunTrack& other,
                      const QStringList& sentences);

/// The texts of a verdict in the verdict bar.
struct VerdictText {
    QString icon;
    QColor color;
    QString headline;
    QString rest;             ///< below or behind the headline
    QString evidence;         ///< behind the link, as HTML; empty: no link
    bool canMeasure = false;  ///< whether to offer a measurement that finds the reason
};

/// One verdict: a mark, the headline, its cost, a link to the evidence, and one to a measurement if
/// that is offered. The text wraps and is never cut.
class VerdictLine final : public QWidget {
    Q_OBJECT
public:
    explicit VerdictLine(QWidget* parent = nullptr);
    void show(const VerdictText& text);
    /// The cost has a line of its own, and the verdict at least two lines.
    void setTwoLines(bool two);
    /// The height that the complete text needs.
    int heightFor(int width) const;
    QSize minimumSizeHint() const override;

signals:
    void measureWanted();

private:
    QGridLayout* grid_;
    QLabel* icon_;
    QLabel* headline_;
    QLabel* rest_;  ///< of two lines the second
    QToolButton* link_;
    QToolButton* measure_;
    QString evidence_;
    bool twoLines_ = false;
};

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
