#include "text/setting_error_text.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include "text/event_text.h"
#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct SettingErrorText {
    Q_DECLARE_TR_FUNCTIONS(SettingErrorText)
};

/// 1,000,000 for 1000000.
QString withGroupedNumbers(QString text) {
    static const QRegularExpression digits(u"(?<=\\d)(?=(\\d{3})+(?!\\d))"_s);
    static const QRegularExpression longNumber(u"(?<![\\d.])\\d{5,}(?!\\d|\\.\\d)"_s);
    for (auto match = longNumber.match(text); match.hasMatch();
         match = longNumber.match(text, match.capturedEnd() + 1)) {
        QString number = match.captured();
        text.replace(match.capturedStart(), match.capturedLength(), number.replace(digits, u","_s));
    }
    return text;
}

/// The value without the quotes that a text has in JSON.
QString bare(QString value) {
    const bool quoted = value.size() > 1 && value.startsWith(u'"') && value.endsWith(u'"');
    return quoted ? value.mid(1, value.size() - 2) : value;
}

}  // namespace

QString settingErrorText(const engine::SettingError& error, const QString& label) {
    const QString allowed = withGroupedNumbers(capitalised(sentence(engineText(error.allowed))));
    const QString value = bare(QString::fromStdString(error.value));
    const QString text = value.isEmpty()
                             ? allowed
                             : SettingErrorText::tr("\"%1\" is not valid. %2").arg(value, allowed);
    return label.isEmpty() ? text : SettingErrorText::tr("%1: %2").arg(label, text);
}

QString capitalised(QString text) {
    if (!text.isEmpty()) text[0] = text[0].toUpper();
    return text;
}

}  // namespace ui
