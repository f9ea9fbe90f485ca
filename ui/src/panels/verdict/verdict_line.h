#pragma once

#include <QLabel>
#include <QToolButton>
#include <QWidget>

class QGridLayout;

namespace ui {

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
    /// For the whole text.
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

}  // namespace ui
