#pragma once

#include <QButtonGroup>
#include <QFrame>
#include <QStringList>

namespace ui {

/// Buttons in one frame, exactly one of which is pressed. Arrow keys move among them.
class Segments final : public QFrame {
    Q_OBJECT
public:
    /// `name` is for screen readers. Ids of the buttons: 0, 1, ... The first is pressed.
    Segments(const QString& name, const QStringList& titles, QWidget* parent = nullptr);

    QButtonGroup* buttons() const { return buttons_; }
    int current() const { return buttons_->checkedId(); }
    void setCurrent(int id);

protected:
    void changeEvent(QEvent* event) override;

private:
    void makeRoom();

    QButtonGroup* buttons_;
};

}  // namespace ui
