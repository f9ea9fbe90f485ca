#pragma once

#include <QStackedWidget>
#include <memory>
#include <vector>

#include "context.h"
#include "text/run_title.h"

class QHBoxLayout;
class QLabel;
class QTableWidget;

namespace ui {

class RunTrack;

/// One card a run: its name in its colour, loss, test accuracy, samples/s and peak memory. At most
/// four abreast, a table beyond. Before the first start, the cards of the comparison to come.
class RunCards final : public QStackedWidget {
    Q_OBJECT
public:
    explicit RunCards(const Context& context, QWidget* parent = nullptr);

    /// Narrower than the cards are now: their last figures give way.
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Card {
        std::shared_ptr<RunTrack> track;
        QLabel* note = nullptr;
        QLabel* loss = nullptr;
        QLabel* accuracy = nullptr;
        QLabel* speed = nullptr;
        QLabel* peak = nullptr;
        QWidget* frame = nullptr;
        std::vector<QWidget*> columns;  ///< of the four, in this order
    };
    void rebuild();
    void refresh();
    void fit(std::size_t columns);
    int neededWidth() const;
    QWidget* makeCard(const QString& title, const QColor& color, Card& card);
    void fillTable();

    Context context_;
    QWidget* row_;
    QHBoxLayout* cards_;
    QTableWidget* table_;
    std::vector<Card> shown_;
    std::size_t fitting_ = 0;  ///< columns that are shown
};

}  // namespace ui
