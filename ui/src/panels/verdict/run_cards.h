#pragma once

#include <QStackedWidget>
#include <memory>
#include <vector>

#include "view/context.h"

class QGridLayout;
class QTableWidget;

namespace ui {

class RunCard;
class RunTrack;

/// One card a run, in one row or two, so that each shows all of its figures; a table for more than
/// four runs. Before the first start, the cards of the next comparison. Its height depends only on
/// its width and on the number of runs.
class RunCards final : public QStackedWidget {
    Q_OBJECT
public:
    explicit RunCards(const Context& context, QWidget* parent = nullptr);

    /// Narrower than the cards are now: they wrap.
    QSize minimumSizeHint() const override;
    /// In a low window the table begins with the third run.
    void setLow(bool low);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Shown {
        std::shared_ptr<RunTrack> track;  ///< null: a run to come
        RunCard* card = nullptr;          ///< null: a row of the table
    };
    void rebuild();
    bool isTabled() const;
    void refresh();
    void arrange();
    void addCard(const std::string& preset, const QString& title,
                 const std::shared_ptr<RunTrack>& track);
    void fillTable();

    Context context_;
    QWidget* page_;
    QGridLayout* cards_;
    QTableWidget* table_;
    std::vector<Shown> shown_;
    bool low_ = false;
};

}  // namespace ui
