#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTranslator>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/message.h"

namespace ui {

using namespace Qt::StringLiterals;  // for all sources of the window

/// An English text of the engine (a catalog's title or help) in the window's language.
QString engineText(const std::string& english);
/// Translates a sentence of the engine and fills in the arguments: in order, or where the
/// translation has {0}, {1}. Settings are named by their titles, in quotes.
QString engineText(const engine::Message& message);

/// Chinese typography: adds a space between a Chinese character and an adjacent Latin letter or
/// digit of an argument. Leaves other texts unchanged.
QString spaced(const QString& text);
/// Sentences one after the other, with a space between them but after a full-width stop.
QString joined(const QStringList& sentences);

/// Sets the program's name, under which the language and all other choices are stored. Call it
/// before QApplication and QSettings, which read it.
void nameProgram();

/// The window's language: installs the translations that are compiled into the program. GUI thread.
class Language final : public QObject {
    Q_OBJECT
public:
    explicit Language(QObject* parent = nullptr);
    ~Language() override;

    /// A language that the window speaks.
    struct Known {
        QString code;  ///< "zh_CN"
        QString name;  ///< in that language: "简体中文"
    };
    /// English, and those of the translations (ui_CODE.qm) in a folder. A further language needs
    /// its two files in resources/i18n and no code.
    static std::vector<Known> known(const QString& folder = QStringLiteral(":/i18n"));

    /// "" follows the system; else the code of a known language.
    QString choice() const { return choice_; }
    void setChoice(const QString& choice);

signals:
    /// All texts must be made anew.
    void changed();

private:
    void install();
    /// Installs the file of a language: qtbase_zh_CN.qm, or qtbase_de.qm for de_DE.
    void load(std::unique_ptr<QTranslator> translator, const QString& name, const QString& code,
              const QString& folder);

    QString choice_;
    std::vector<std::unique_ptr<QTranslator>> translators_;
};

/// Which of the files that exist in several languages is shown: "en" or "zh".
QString contentLanguage(const Language& language);

/// Why something failed. Kept as the engine says it, since the window's language may change before
/// it is read again.
class Failure {
public:
    Failure() = default;
    /// Takes the hint of an engine::Error, too.
    explicit Failure(const std::exception& error);
    explicit Failure(engine::Message message) : message_(std::move(message)) {}

    bool isEmpty() const { return message_.empty(); }
    /// The failure in the window's language; empty if nothing failed.
    QString sentence() const;
    QString hint() const;
    /// Both.
    QString text() const;

private:
    engine::Message message_, hint_;
};

}  // namespace ui
