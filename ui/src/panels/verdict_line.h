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
    QString rest;             ///< beside the headline, cut short where it does not fit
    QString evidence;         ///< behind the link, as HTML; empty: no link
    bool canMeasure = false;  ///< a measurement would say why the precision does not pay
};

/// One verdict: a mark, the headline, its cost, a link to the evidence and, where it says more, one
/// to a measurement. One line, however narrow.
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
