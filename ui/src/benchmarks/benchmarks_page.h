#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QWidget>
#include <memory>

#include "text/format.h"
#include "view/context.h"
#include "widgets/page_export.h"

namespace ui {

class BenchmarkView;
class Card;
class ElidedLabel;

/// Does mixed precision pay on this machine? Compares chosen models in FP32 and in other
/// precisions: speed, memory and largest batch, and the reason if a precision does not pay.
class BenchmarksPage final : public QWidget {
    Q_OBJECT
public:
    explicit BenchmarksPage(const Context& context, QWidget* parent = nullptr);

    /// Content that Ctrl+E writes. Its picture belongs to the page and is recreated by each call.
    PageExport whatToExport();

protected:
    void showEvent(QShowEvent* event) override;

private:
    QLayout* makeBar();
    QWidget* makeResults();
    void exportFigures();
    void makePicture();
    void showResults();
    void refreshState();
    QString stateText() const;

    Context context_;
    QPushButton* run_ = nullptr;
    QPushButton* stop_ = nullptr;
    QPushButton* export_ = nullptr;
    QProgressBar* progress_ = nullptr;
    TimeLeft left_;
    ElidedLabel* state_ = nullptr;
    Card* card_ = nullptr;
    QStackedWidget* body_ = nullptr;
    QLabel* empty_ = nullptr;  ///< of body_
    QScrollArea* area_ = nullptr;
    BenchmarkView* view_ = nullptr;
    std::unique_ptr<QWidget> picture_;
};

}  // namespace ui
