#pragma once

#include <QLabel>
#include <QVBoxLayout>
#include <QWidget>

namespace ui {

class Theme;

/// One step of the lesson column: a number in a disc on the line that joins the steps, a title with
/// a dim note, and what stands below. GUI thread.
class LessonStep final : public QWidget {
    Q_OBJECT
public:
    enum class State {
        later,    ///< not reached: dim
        current,  ///< what the learner does now
        done,
    };
    /// `number` from 1. `last`: the line ends here.
    LessonStep(const Theme* theme, int number, bool last, const QString& title,
               QWidget* parent = nullptr);

    void setNote(const QString& note);
    void setState(State state);
    State state() const { return state_; }
    /// A closed step shows its head alone.
    void setOpen(bool open);
    bool isOpen() const { return open_; }
    QString title() const { return title_->text(); }
    /// Below what is there. With a stretch it takes what height there is.
    void add(QWidget* part, int stretch = 0);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    int disc() const;
    void showTitle();

    const Theme* theme_;
    int number_;
    bool last_;
    State state_ = State::later;
    bool open_ = true;
    QLabel* title_;
    QLabel* note_;
    QWidget* body_;
    QVBoxLayout* column_;
};

}  // namespace ui
