#include "widgets/spoken_texts.h"

#include <QAbstractItemView>
#include <QAccessibleWidget>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTextDocumentFragment>

#include "text/spoken.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QString plainText(const QLabel& label) {
    const bool rich = label.textFormat() == Qt::RichText ||
                      (label.textFormat() == Qt::AutoText && Qt::mightBeRichText(label.text()));
    return rich ? QTextDocumentFragment::fromHtml(label.text()).toPlainText() : label.text();
}

class SpokenLabel final : public QAccessibleWidget {
public:
    explicit SpokenLabel(QLabel* label)
        : QAccessibleWidget(label, QAccessible::StaticText), label_(label) {}

    QString text(QAccessible::Text which) const override {
        if (which != QAccessible::Name) return QAccessibleWidget::text(which);
        const QString name = label_->accessibleName(), words = plainText(*label_).trimmed();
        if (name.isEmpty() || words.startsWith(name)) return words;
        if (words.isEmpty()) return name;
        return name + u": "_s + words;
    }

private:
    const QLabel* label_;  // outlives its interface
};

class SpokenWidget final : public QAccessibleWidget {
public:
    SpokenWidget(QWidget* widget, const Spoken* words)
        : QAccessibleWidget(widget, QAccessible::Graphic), words_(words) {}

    QString text(QAccessible::Text which) const override {
        if (which == QAccessible::Description) return words_->spoken();
        return QAccessibleWidget::text(which);
    }

private:
    const Spoken* words_;  // the widget itself
};

/// Qt calls a choice by its value alone where it runs on X11 or Wayland: what it is a choice of
/// would not be said.
class SpokenChoice final : public QAccessibleWidget {
public:
    explicit SpokenChoice(QComboBox* box)
        : QAccessibleWidget(box, QAccessible::ComboBox), box_(box) {}

    QString text(QAccessible::Text which) const override {
        if (which == QAccessible::Value) return box_->currentText();
        if (which != QAccessible::Name) return QAccessibleWidget::text(which);
        const QString name = box_->accessibleName(), value = box_->currentText();
        if (name.isEmpty()) return value;
        return value.isEmpty() ? name : name + u": "_s + value;
    }
    QAccessible::State state() const override {
        QAccessible::State out = QAccessibleWidget::state();
        out.expandable = true;
        out.expanded = box_->view()->isVisible();
        out.editable = box_->isEditable();
        return out;
    }
    int childCount() const override { return box_->isEditable() ? 2 : 1; }
    QAccessibleInterface* child(int index) const override {
        QWidget* part = index == 0   ? static_cast<QWidget*>(box_->view())
                        : index == 1 ? box_->lineEdit()
                                     : nullptr;
        return part != nullptr ? QAccessible::queryAccessibleInterface(part) : nullptr;
    }
    int indexOfChild(const QAccessibleInterface* child) const override {
        if (child == nullptr) return -1;
        if (child->object() == box_->view()) return 0;
        return box_->isEditable() && child->object() == box_->lineEdit() ? 1 : -1;
    }
    QStringList actionNames() const override { return {showMenuAction(), setFocusAction()}; }
    void doAction(const QString& action) override {
        if (action != showMenuAction()) return QAccessibleWidget::doAction(action);
        if (box_->view()->isVisible())
            box_->hidePopup();
        else
            box_->showPopup();
    }

private:
    QComboBox* box_;  // outlives its interface
};

/// Asked for each class of an object, from its own to QObject; null leaves it to Qt.
QAccessibleInterface* makeSpoken(const QString& key, QObject* object) {
    auto* widget = qobject_cast<QWidget*>(object);
    if (widget == nullptr) return nullptr;
    if (const auto* words = dynamic_cast<const Spoken*>(widget))
        return new SpokenWidget(widget, words);
    if (auto* box = qobject_cast<QComboBox*>(widget); box != nullptr && key == u"QComboBox"_s)
        return new SpokenChoice(box);
    auto* label = key == u"QLabel"_s ? qobject_cast<QLabel*>(widget) : nullptr;
    return label != nullptr ? new SpokenLabel(label) : nullptr;
}

}  // namespace

void installSpokenTexts() {
    static bool installed = false;
    if (!installed) QAccessible::installFactory(makeSpoken);
    installed = true;
}

void announceText(QLabel* label) {
    if (!QAccessible::isActive()) return;
    QAccessibleEvent changed(label, QAccessible::NameChanged);
    QAccessible::updateAccessibility(&changed);
}

}  // namespace ui
