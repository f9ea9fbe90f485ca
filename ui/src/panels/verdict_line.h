#pragma once

#include <QLabel>
#include <QToolButton>
#include <QWidget>

namespace ui {

class ElidedLabel;

/// The texts of a line of the verdict bar.
struct VerdictText {
    QString icon;
    QColor color;
    QString headline;
    QString rest;             ///< beside the headline, elided if it does not fit
    QString evidence;         ///< behind the link, as HTML; empty: no link
    bool canMeasure = false;  ///< whether to offer a measurement that finds the reason
};

/// One verdict: a mark, the headline, its cost, a link to the evidence, and one to a measurement if
/// that is offered. Always one line, also in a narrow window.
class VerdictLine final : public QWidget {
    Q_OBJECT
public:
    explicit VerdictLine(QWidget* parent = nullptr);
    void show(const VerdictText& text);

signals:
    void measureWanted();

private:
    QLabel* icon_;
    ElidedLabel* headline_;
    ElidedLabel* rest_;
    QToolButton* link_;
    QToolButton* measure_;
    QString evidence_;
};

}  // namespace ui
