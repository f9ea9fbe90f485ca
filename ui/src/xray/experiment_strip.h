#pragma once

#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>
#include <array>

namespace ui {

class ElidedLabel;
class Theme;
class XrayModel;

/// The last experiment with a forced type: before and after, a conclusion, and a button that keeps
/// it for the run. Hidden without one. GUI thread.
class ExperimentStrip final : public QWidget {
    Q_OBJECT
public:
    ExperimentStrip(const Theme* theme, XrayModel* model, QWidget* parent = nullptr);

signals:
    /// The user wants to see the settings that were kept.
    void trainingWanted();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    static constexpr std::size_t figures = 4;
    void refresh();

    const Theme* theme_;
    XrayModel* model_;
    ElidedLabel* title_;
    QLabel* conclusion_;
    std::array<ElidedLabel*, figures> values_{};
    QPushButton* undo_;
    QPushButton* keep_;
    QToolButton* open_;
};

}  // namespace ui
