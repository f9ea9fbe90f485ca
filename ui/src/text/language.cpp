#include "text/language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QRegularExpression>
#include <QSettings>

namespace ui {

using namespace Qt::StringLiterals;

QString engineText(const std::string& english) {
    if (english.empty()) return {};
    return QCoreApplication::translate("engine", english.c_str());
}

QString engineText(const engine::Message& message) {
    const QString form = engineText(message.text);
    QString out;
    std::size_t next = 0;
    for (qsizetype at = 0; at < form.size();) {
        const qsizetype close = form.at(at) == u'{' ? form.indexOf(u'}', at) : -1;
        if (close < 0) {
            out += form.at(at++);
            continue;
        }
        bool numbered = false;
        const int number = QStringView(form).mid(at + 1, close - at - 1).toInt(&numbered);
        const std::size_t arg = numbered ? static_cast<std::size_t>(number) : next++;
        const bool isHole = numbered || close == at + 1;
        if (isHole && arg < message.args.size()) {
            out += QString::fromStdString(message.args[arg]);
        } else {
            out += QStringView(form).mid(at, close - at + 1);
        }
        at = close + 1;
    }
    return out;
}

QString spaced(const QString& text) {
    static const QRegularExpression before(u"(\\p{Han})([A-Za-z0-9])"_s);
    static const QRegularExpression after(u"([A-Za-z0-9²])(\\p{Han})"_s);
    QString out = text;
    return out.replace(before, u"\\1 \\2"_s).replace(after, u"\\1 \\2"_s);
}

QString joined(const QStringList& sentences) {
    QString out;
    for (const QString& each : sentences) {
        const bool wide = !out.isEmpty() && QStringView(u"。！？；：，").contains(out.back());
        if (!out.isEmpty() && !each.isEmpty() && !wide) out += u' ';
        out += each;
    }
    return out;
}

Language::Language(QObject* parent)
    : QObject(parent), choice_(QSettings().value(u"language"_s).toString()) {
    install();
}

Language::~Language() = default;

void Language::setChoice(const QString& choice) {
    if (choice == choice_) return;
    choice_ = choice;
    QSettings().setValue(u"language"_s, choice);
    install();
    emit changed();
}

void Language::install() {
    for (auto& translator : translators_) QCoreApplication::removeTranslator(translator.get());
    translators_.clear();
    const QLocale locale = choice_.isEmpty() ? QLocale::system() : QLocale(choice_);
    if (locale.language() != QLocale::Chinese) return;
    const QString qt = QLibraryInfo::path(QLibraryInfo::TranslationsPath);
    const std::pair<QString, QString> files[] = {
        {u"qtbase_zh_CN"_s, qt}, {u"engine_zh_CN"_s, u":/i18n"_s}, {u"ui_zh_CN"_s, u":/i18n"_s}};
    for (const auto& [file, folder] : files) {
        auto translator = std::make_unique<QTranslator>();
        // Qt's own texts are absent on some systems; its buttons then stay English.
        if (!translator->load(file, folder)) continue;
        QCoreApplication::installTranslator(translator.get());
        translators_.push_back(std::move(translator));
    }
}

}  // namespace ui
