#pragma once

#include <QLabel>

namespace ui {

/// One line of plain text that ends in "…" if it does not fit, and then shows the full text as its
/// tooltip.
class ElidedLabel final : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget* parent = nullptr);
    void setText(const QString& text);
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void updateTip();
};

}  // namespace ui
