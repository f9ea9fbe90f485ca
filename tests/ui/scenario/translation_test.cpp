// Every text that a user can see has a Chinese translation. The texts of the window are in its
// translation file; those of the engine are found in its catalogs and in the msg("...") literals.
#include <gtest/gtest.h>

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTranslator>

#include "engine/runs/export.h"
#include "engine/network/network.h"
#include "engine/network/network_exports.h"
#include "engine/runs/run_fields.h"
#include "engine/settings/catalog.h"
#include "engine/train/machine.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

const QString root = QStringLiteral(HALFTONE_SOURCE_DIR);

QString readAll(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QStringList sources(const QString& folder) {
    QStringList files;
    QDirIterator it(root + u'/' + folder, {u"*.cpp"_s, u"*.h"_s, u"*.inc"_s}, QDir::Files,
                    QDirIterator::Subdirectories);
    while (it.hasNext()) files << it.next();
    return files;
}

/// The string literal that begins at `at`, with adjacent literals joined and escapes resolved;
/// empty if there is none.
QString literalAt(const QString& code, qsizetype at) {
    static const QRegularExpression piece(u"\\G\\s*\"((?:[^\"\\\\]|\\\\.)*)\""_s);
    QString out;
    for (auto m = piece.match(code, at); m.hasMatch(); m = piece.match(code, m.capturedEnd())) {
        out += m.captured(1);
    }
    return out.replace(u"\\\""_s, u"\""_s).replace(u"\\n"_s, u"\n"_s).replace(u"\\\\"_s, u"\\"_s);
}

QStringList literalsAfter(const QString& code, const QRegularExpression& call) {
    QStringList found;
    for (auto it = call.globalMatch(code); it.hasNext();) {
        const QString text = literalAt(code, it.next().capturedEnd());
        if (!text.isEmpty()) found << text;
    }
    return found;
}

struct Translations {
    QTranslator engine;
    QTranslator ui;
    Translations() {
        EXPECT_TRUE(engine.load(u":/i18n/engine_zh_CN.qm"_s));
        EXPECT_TRUE(ui.load(u":/i18n/ui_zh_CN.qm"_s));
    }
    bool knows(const std::string& text) const {
        return text.empty() || !engine.translate("", text.c_str()).isEmpty();
    }
};

TEST(Translation, CoversTheEnginesCatalogs) {
    const Translations zh;
    std::vector<std::string> texts;
    for (const auto& i : engine::datasets())
        texts.insert(texts.end(), {i.title, i.summary, i.needs, i.unit});
    for (const auto& i : engine::tasks()) {
        texts.insert(texts.end(), {i.title, i.summary});
        for (const auto& metric : i.metrics) texts.push_back(metric.title);
    }
    for (const auto& i : engine::models()) {
        texts.insert(texts.end(), {i.title, i.summary});
        for (const auto& option : i.options)
            texts.insert(texts.end(), {option.label, option.help, option.unit});
    }
    for (const auto& i : engine::precisions()) texts.insert(texts.end(), {i.title, i.summary});
    for (const auto& i : engine::scaler_presets()) texts.insert(texts.end(), {i.title, i.summary});
    for (const auto& i : engine::optimizers()) texts.insert(texts.end(), {i.title, i.summary});
    for (const auto& i : engine::fields()) {
        texts.insert(texts.end(), {i.label, i.help, i.unit});
        for (const auto& choice : i.choices)
            texts.insert(texts.end(), {choice.title, choice.summary});
    }
    for (const auto& i : engine::run_fields()) texts.push_back(i.label);
    for (const auto& i : engine::ops()) texts.push_back(i.why);
    for (const auto& i : engine::export_formats()) texts.insert(texts.end(), {i.title, i.summary});
    for (const auto& kind : engine::network_layer_kinds()) {
        texts.push_back(kind.help);
        for (const auto& argument : kind.arguments) texts.push_back(argument.help);
    }
    for (const auto& form : engine::network_forms()) texts.push_back(form.title);
    ASSERT_FALSE(texts.empty());
    for (const auto& text : texts) EXPECT_TRUE(zh.knows(text)) << text;
}

TEST(Translation, CoversEveryMessageOfTheEngineThatTheWindowCanShow) {
    const Translations zh;
    static const QRegularExpression call(u"\\bmsg\\(|\\bMessage\\("_s);
    int found = 0;
    for (const auto& folder : {u"engine/src"_s, u"ui/src"_s}) {
        for (const QString& file : sources(folder)) {
            for (const QString& text : literalsAfter(readAll(file), call)) {
                ++found;
                EXPECT_TRUE(zh.knows(text.toStdString()))
                    << file.toStdString() << ": " << text.toStdString();
            }
        }
    }
    EXPECT_GT(found, 20);
}

TEST(Translation, CoversTheMachineReport) {
    const Translations zh;
    const auto machine = engine::inspect_machine();
    EXPECT_TRUE(zh.knows(machine.cuda_note.text)) << machine.cuda_note.text;
    for (const auto& pay : machine.precisions) EXPECT_TRUE(zh.knows(pay.why.text)) << pay.why.text;
}

struct CatalogEntry {
    QString context, source, translation;
    bool finished;
};

/// The entries of a translation file: its paragraphs, without the header.
QList<CatalogEntry> catalogEntries(const QString& catalog) {
    static const QRegularExpression start(u"^((?:#.*\n)*)(?:msgctxt \"(.*)\\|\"\n)?msgid "_s);
    static const QString middle = u"\nmsgstr "_s;
    QList<CatalogEntry> out;
    const QString text = readAll(QStringLiteral(HALFTONE_TEXTS) + u'/' + catalog + u"_zh_CN.po"_s);
    for (const QString& paragraph : text.split(u"\n\n"_s).mid(1)) {
        const auto entry = start.match(paragraph);
        const qsizetype translation = paragraph.indexOf(middle);
        EXPECT_TRUE(entry.hasMatch() && translation > 0) << paragraph.toStdString();
        if (!entry.hasMatch() || translation < 0) continue;
        out << CatalogEntry{entry.captured(2), literalAt(paragraph, entry.capturedEnd()),
                            literalAt(paragraph, translation + middle.size()),
                            !entry.captured(1).contains(u"fuzzy"_s)};
    }
    EXPECT_GT(out.size(), 1000);
    EXPECT_EQ(out.size(), text.count(u"msgid \""_s) - 1);
    return out;
}

/// The finished translations of the window that hold for every class, by source text.
QMap<QString, QString> translated() {
    QMap<QString, QString> out;
    for (const CatalogEntry& entry : catalogEntries(u"ui"_s))
        if (entry.finished && entry.context.isEmpty()) out[entry.source] = entry.translation;
    return out;
}

TEST(Translation, CoversEveryTextOfTheWindow) {
    static const QRegularExpression call(
        u"\\btr\\(|QT_TRANSLATE_NOOP\\(\"\\w+\",|\\btranslate\\(\"(?!engine)\\w+\","_s);
    const auto known = translated();
    int found = 0;
    for (const QString& file : sources(u"ui/src"_s)) {
        for (const QString& text : literalsAfter(readAll(file), call)) {
            ++found;
            EXPECT_FALSE(known.value(text).isEmpty())
                << file.toStdString() << ": " << text.toStdString();
        }
    }
    EXPECT_GT(found, 150);
}

// Qt looks a text up under the name of its class: an exception under another name is never shown.
TEST(Translation, ExceptionsStandUnderTheNameThatQtLooksThemUpBy) {
    static const QRegularExpression widget(
        u"\\n *class (\\w+)[^;{}]*\\{\\s*(?:Q_OBJECT|Q_DECLARE_TR_FUNCTIONS\\(ui::\\1\\))"_s);
    QStringList classes;
    for (const QString& file : sources(u"ui/src"_s)) {
        const QString code = readAll(file);
        for (auto it = widget.globalMatch(code); it.hasNext();) classes << it.next().captured(1);
    }
    EXPECT_GT(classes.size(), 100);
    for (const CatalogEntry& entry : catalogEntries(u"ui"_s)) {
        QString name = entry.context;
        if (name.isEmpty()) continue;
        const bool withSpace = name.startsWith(u"ui::"_s);
        name.remove(u"ui::"_s);
        EXPECT_EQ(withSpace, classes.contains(name)) << name.toStdString();
    }
}

// A reworded text leaves its old translation behind, which nobody would see.
TEST(Translation, HasNoTextThatTheSourcesLack) {
    static const QRegularExpression seam(u"(?<!\\\\)\"\\s*\""_s);
    static const QRegularExpression literal(u"\"((?:[^\"\\\\\n]|\\\\.)*)\""_s);
    QString code;
    QSet<QString> literals;
    for (const auto& folder : {u"ui"_s, u"engine"_s, u"app"_s}) {
        for (const QString& file : sources(folder)) {
            const QString joined = readAll(file).remove(seam);
            for (auto it = literal.globalMatch(joined); it.hasNext();)
                literals << it.next().captured(1);
            code += joined;
        }
    }
    for (const auto& catalog : {u"ui"_s, u"engine"_s}) {
        for (const CatalogEntry& entry : catalogEntries(catalog)) {
            QString text = entry.source;
            const std::string shown = text.toStdString();
            text.replace(u"\\"_s, u"\\\\"_s).replace(u"\""_s, u"\\\""_s).replace(u"\n"_s, u"\\n"_s);
            // A search of all code takes a millisecond, and most texts are whole literals.
            EXPECT_TRUE(literals.contains(text) || code.contains(text))
                << catalog.toStdString() << ": " << shown;
        }
    }
}

TEST(Translation, KeepsThePlacesForArguments) {
    static const QRegularExpression place(u"%\\d"_s);
    for (const CatalogEntry& entry : catalogEntries(u"ui"_s)) {
        const auto places = [](const QString& text) {
            QStringList all;
            for (auto m = place.globalMatch(text); m.hasNext();) all << m.next().captured();
            all.sort();
            return all;
        };
        EXPECT_EQ(places(entry.source), places(entry.translation)) << entry.source.toStdString();
    }
}

}  // namespace
}  // namespace ui
