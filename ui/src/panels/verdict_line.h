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
    QString rest;      ///< beside the headline, cut short where it does not fit
    QString evidence;  ///< behind the link, as HTML; empty: no link
};

/// One verdict: a mark, the headline, its cost and a link to the evidence. One line, however
/// narrow.
class VerdictLine final : public QWidget {
    Q_OBJECT
public:
    explicit VerdictLine(QWidget* parent = nullptr);
    void show(const VerdictText& text);

private:
    QLabel* icon_;
    ElidedLabel* headline_;
    ElidedLabel* rest_;
    QToolButton* link_;
    QString evidence_;
};

}  // namespace ui
