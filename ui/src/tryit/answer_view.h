#pragma once

#include "tryit/tried_model.h"
#include "widgets/painted_widget.h"

namespace ui {

class PictureView;

/// A model's answer to one input: its classes as bars, the predicted number, or the drawn picture.
class AnswerView final : public PaintedWidget {
    Q_OBJECT
public:
    AnswerView(Theme* theme, const std::string& precision, QWidget* parent = nullptr);

    void show(const engine::Answer& answer, const ModelFacts& facts);
    /// A dim sentence in the answer's place.
    void showNote(const QString& note);
    /// "Sneaker", or the number; empty without an answer.
    const QString& summary() const { return summary_; }
    const engine::Answer& answer() const { return answer_; }
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Bar {
        QString name;
        double share;
    };
    void paintBars(QPainter& painter, int top) const;

    std::string precision_;
    PictureView* drawing_;
    engine::Answer answer_;
    std::vector<Bar> bars_;
    QString summary_;
    QString caption_;
    QString note_;
};

}  // namespace ui
