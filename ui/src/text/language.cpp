#include "text/language.h"

#include <QCoreApplication>
#include <QDir>
#include <QLibraryInfo>
#include <QLocale>
#include <QRegularExpression>
#include <QSettings>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/settings/catalog.h"
#include "text/setting_text.h"

namespace ui {
namespace {

/// A file of resources/i18n. An entry without a context holds for each class that has none of its own.
class TextCatalog final : public QTranslator {
public:
    explicit TextCatalog(bool engine) : engine_(engine) {}

    QString translate(const char* context, const char* text, const char* comment, int n) const override {
        if ((qstrcmp(context, "engine") == 0) != engine_) return {};
        const QString own = QTranslator::translate(context, text, comment, n);
        return own.isEmpty() ? QTranslator::translate("", text, comment, n) : own;
    }

private:
    bool engine_;
};

/// The known language of the same country, else of the same language; empty: none.
QString closest(const QLocale& locale, const std::vector<Language::Known>& known) {
    QString found;
    for (const auto& each : known) {
        const QLocale theirs(each.code);
        if (theirs.language() != locale.language()) continue;
        if (theirs == locale) return each.code;
        if (found.isEmpty()) found = each.code;
    }
    return found;
}

/// Puts the titles of settings where a sentence has their paths: the window shows no others. Paths
/// in parentheses and in "path=value" stay, since they are to be typed.
QString withTitles(const QString& sentence) {
    static const QRegularExpression path(
        u"(?<![\\w.(=-])[a-z_]+(?:\\.[a-z_]+)+(?![\\w=(])"_s);
    QString out;
    qsizetype end = 0;
    for (auto all = path.globalMatch(sentence); all.hasNext();) {
        const QRegularExpressionMatch match = all.next();
        const std::string found = match.captured().toStdString();
        if (engine::find_field(found) == nullptr) continue;
        out += QStringView(sentence).mid(end, match.capturedStart() - end);
        out += u'"' + settingTitle(found) + u'"';
        end = match.capturedEnd();
    }
    return out += QStringView(sentence).mid(end);
}

}  // namespace

QString engineText(const std::string& english) {
    if (english.empty()) return {};
    return QCoreApplication::translate("engine", english.c_str());
}

QString engineText(const engine::Message& message) {
    const QString translated = engineText(message.text);
    const bool isEnglish = translated == QString::fromStdString(message.text);
    const QString form = withTitles(
        isEnglish ? QString::fromStdString(engine::with_singulars(message.text, message.args))
                  : translated);
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

void nameProgram() {
    QCoreApplication::setOrganizationName(u"halftone"_s);
    QCoreApplication::setApplicationName(u"Halftone"_s);
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
    if (locale.language() == QLocale::English) return;
    const QString code = closest(locale, known());
    if (code.isEmpty()) return;
    load(std::make_unique<TextCatalog>(true), u"engine"_s, code, u":/i18n"_s);
    load(std::make_unique<TextCatalog>(false), u"ui"_s, code, u":/i18n"_s);
    // Qt's own texts: names of buttons, file dialogs, menus of text fields. Where the package with
    // Qt's translations is not installed, those that the window lacks stay English. The last is asked first.
    load(std::make_unique<QTranslator>(), u"qtbase"_s, code, QLibraryInfo::path(QLibraryInfo::TranslationsPath));
}

void Language::load(std::unique_ptr<QTranslator> translator, const QString& name, const QString& code,
                    const QString& folder) {
    if (!translator->load(QLocale(code), name, u"_"_s, folder)) return;
    QCoreApplication::installTranslator(translator.get());
    translators_.push_back(std::move(translator));
}

std::vector<Language::Known> Language::known(const QString& folder) {
    std::vector<Known> found{{u"en"_s, u"English"_s}};
    for (const QString& file : QDir(folder).entryList({u"ui_*.qm"_s}, QDir::Files, QDir::Name)) {
        const QString code = file.mid(3).chopped(3);
        found.push_back({code, QLocale(code).nativeLanguageName()});
    }
    return found;
}

QString contentLanguage(const Language& language) {
    const QString chosen =
        language.choice().isEmpty() ? QLocale::system().name() : language.choice();
    const QString words = QLocale(chosen).name().section(u'_', 0, 0);
    for (const auto& known : Language::known()) {
        if (known.code.section(u'_', 0, 0) == words) return words;
    }
    return u"en"_s;
}

Failure::Failure(const std::exception& error) : message_(engine::Message(error.what())) {
    const auto* own = dynamic_cast<const engine::Error*>(&error);
    if (own == nullptr) return;
    message_ = own->message();
    hint_ = own->hint();
}

QString Failure::sentence() const { return engineText(message_); }

QString Failure::hint() const { return capitalised(engineText(hint_)); }

QString Failure::text() const { return joined({sentence(), hint()}); }

}  // namespace ui
