#pragma once

#include <QColor>
#include <QString>
#include <QWidget>
#include <vector>

#include "engine/instruments/weight_watch.h"

namespace ui {

class Theme;

/// One update of one weight on the line of the numbers that its type can hold: its old value, the
/// target of the update, and the rounded result. GUI thread.
class WeightLens final : public QWidget {
    Q_OBJECT
public:
    struct Shown {
        QString label;      ///< of the run
        QColor color;       ///< of the run
        std::string dtype;  ///< of the stored weight: "f16", "f32"
        engine::WeightChange change;
        bool skipped = false;       ///< the step, so that nothing changed
        std::vector<double> trail;  ///< where the weight (or its master) was before, oldest first
    };
    explicit WeightLens(const Theme* theme, QWidget* parent = nullptr);

    void setShown(const Shown& shown);
    /// Why there is nothing to show.
    void setNothing(const QString& why);
    /// The update that the optimizer computed: that of the master where there is one.
    static double update(const engine::WeightChange& change);
    /// The stored weight stayed as it was although the update is not 0.
    static bool lost(const engine::WeightChange& change);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Line;
    QString headline() const;
    void paintLine(QPainter& painter, const Line& line) const;
    void paintUpdate(QPainter& painter, const Line& line) const;

    const Theme* theme_;
    Shown shown_;
    QString nothing_;
    bool some_ = false;
};

}  // namespace ui
