#include "widgets/spoken_texts.h"

#include <QAccessibleWidget>
#include <QLabel>
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

/// Asked for each class of an object, from its own to QObject; null leaves it to Qt.
QAccessibleInterface* makeSpoken(const QString& key, QObject* object) {
    auto* widget = qobject_cast<QWidget*>(object);
    if (widget == nullptr) return nullptr;
    if (const auto* words = dynamic_cast<const Spoken*>(widget))
        return new SpokenWidget(widget, words);
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
