#pragma once

#include <QButtonGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QFrame>
#include <QStringList>
#include <QStyleOptionComboBox>

namespace ui {

/// A check box that is visible in both themes: a dim border, filled with the accent when checked.
/// The style would derive the border from the window's colour, which is invisible in the dark
/// theme.
class CheckBox final : public QCheckBox {
    Q_OBJECT
public:
    using QCheckBox::QCheckBox;

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// A combo box whose arrow has the theme's colour, which a picture in a style sheet cannot have. It
/// asks for the room of its widest choice; one that does not fit ends in "…".
class ChoiceBox final : public QComboBox {
    Q_OBJECT
public:
    explicit ChoiceBox(QWidget* parent = nullptr);

    /// For a narrow column: it asks for the room of a few letters.
    void letShrink();
    /// The current choice does not fit.
    bool isCut() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void initStyleOption(QStyleOptionComboBox* option) const override;
    void paintEvent(QPaintEvent* event) override;
    /// Turning the wheel scrolls the panel and never changes a setting on the way.
    void wheelEvent(QWheelEvent* event) override;

private:
    int textRoom(const QStyleOptionComboBox& option) const;
    QSize withRoom(QSize size) const;
};

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
