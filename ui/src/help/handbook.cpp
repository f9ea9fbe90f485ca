#include "help/handbook.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct Handbook {
    Q_DECLARE_TR_FUNCTIONS(Handbook)
};

/// Paths below resources/, where the pages refer to each other by them.
const QStringList& pages() {
    static const QStringList all{u"handbook/mixed-precision.md"_s,
                                 u"handbook/window-pages.md"_s,
                                 u"handbook/command-line.md"_s,
                                 u"handbook/data-and-models.md"_s,
                                 u"handbook/write-a-lesson.md"_s,
                                 u"lessons/README.md"_s,
                                 u"handbook/hazards.md"_s,
                                 u"handbook/comparisons.md"_s,
                                 u"handbook/verdicts.md"_s,
                                 u"handbook/glossary.md"_s,
                                 u"handbook/autocast.md"_s,
                                 u"handbook/loss-scaler.md"_s,
                                 u"handbook/training-loops.md"_s,
                                 u"handbook/optimizers.md"_s,
                                 u"handbook/data-parallel.md"_s,
                                 u"handbook/exchange-on-paper.md"_s,
                                 u"handbook/catalogue.md"_s,
                                 u"handbook/engine.md"_s,
                                 u"handbook/decisions.md"_s,
                                 u"handbook/interfaces.md"_s,
                                 u"handbook/settings.md"_s,
                                 u"handbook/commands.md"_s,
                                 u"handbook/command-results.md"_s,
                                 u"handbook/events.md"_s,
                                 u"handbook/figures.md"_s,
                                 u"handbook/window-keys.md"_s,
                                 u"handbook/file-formats.md"_s,
                                 u"handbook/first-hour.md"_s,
                                 u"handbook/building.md"_s,
                                 u"handbook/add-an-op.md"_s,
                                 u"handbook/add-a-kernel.md"_s,
                                 u"handbook/add-a-model.md"_s,
                                 u"handbook/add-a-data-set.md"_s,
                                 u"handbook/add-a-task.md"_s,
                                 u"handbook/add-an-optimizer.md"_s,
                                 u"handbook/add-a-plot.md"_s,
                                 u"handbook/add-a-panel.md"_s,
                                 u"handbook/add-a-page.md"_s,
                                 u"handbook/add-a-command.md"_s,
                                 u"handbook/add-a-language.md"_s,
                                 u"handbook/README.md"_s};
    return all;
}

QString inLanguage(const QString& page, const QString& language) {
    QString translated = page;
    translated.insert(page.size() - 2, language + u'.');  // NAME.zh.md
    return QFile::exists(u":/"_s + translated) ? translated : page;
}

QString textOf(const QString& page) {
    QFile file(u":/"_s + page);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString titleOf(const QString& markdown) {
    const QString first = markdown.left(markdown.indexOf(u'\n'));
    return first.startsWith(u"# "_s) ? first.mid(2).trimmed() : first.trimmed();
}

}  // namespace

std::vector<HelpTopic> handbookTopics(const QString& language) {
    std::vector<HelpTopic> topics;
    for (const QString& page : pages()) {
        const QString text = textOf(inLanguage(page, language));
        topics.push_back({page, Handbook::tr("Handbook"), titleOf(text), {}, text});
    }
    return topics;
}

QString lessonWritingTopic() { return u"handbook/write-a-lesson.md"_s; }

QString handbookTarget(const QString& from, const QUrl& link) {
    if (!link.isRelative()) return {};
    if (link.path().isEmpty()) return from;
    const QString folder = from.left(from.lastIndexOf(u'/') + 1);
    QString page = QDir::cleanPath(folder + link.path());
    page.replace(u".zh.md"_s, u".md"_s);
    return pages().contains(page) ? page : QString();
}

}  // namespace ui
