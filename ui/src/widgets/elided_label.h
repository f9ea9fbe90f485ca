#pragma once

#include <QLabel>

namespace ui {

/// One line of plain text that ends in "…" where it does not fit, and then has the whole of it as
/// its tooltip.
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
