#include "lab/lessons/lesson_shelf.h"

#include <QDir>
#include <QRegularExpression>
#include <algorithm>
#include <ranges>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int lookEvery = 1000;  // ms

}  // namespace

LessonShelf::LessonShelf(QString language, QObject* parent)
    : QObject(parent), language_(std::move(language)) {
    look_.setInterval(lookEvery);
    connect(&look_, &QTimer::timeout, this, [this] {
        if (watch_ && watch_->changed()) emit fileChanged(watched_);
    });
}

std::pair<QString, QString> titleParts(const engine::Lesson& lesson) {
    const QString title = QString::fromStdString(lesson.title);
    static const QRegularExpression colon(u"[:：]"_s);
    const qsizetype at = title.indexOf(colon);
    if (at < 0) return {title, {}};
    return {title.left(at).trimmed(), title.mid(at + 1).trimmed()};
}

QString LessonShelf::open(const QString& path) {
    engine::LessonLibrary library = engine::read_lessons(path.toStdString());
    if (library.path.empty()) library.path = path.toStdString();
    std::erase_if(opened_, [&](const auto& other) { return other.path == library.path; });
    QString first;
    if (!library.lessons.empty()) first = QString::fromStdString(library.lessons.front().name);
    opened_.push_back(std::move(library));
    return first;
}

const engine::LessonLibrary* LessonShelf::libraryOf(const QString& name) const {
    const std::string wanted = name.toStdString();
    for (const auto& library : opened_ | std::views::reverse) {
        if (library.find(wanted) != nullptr) return &library;
    }
    const auto& builtin = engine::builtin_lessons();
    return builtin.find(wanted) != nullptr ? &builtin : nullptr;
}

const engine::LessonFiles* LessonShelf::filesOf(const QString& name) const {
    const auto* library = libraryOf(name);
    return library != nullptr ? library->find(name.toStdString()) : nullptr;
}

const engine::Lesson* LessonShelf::find(const QString& name) const {
    const auto* files = filesOf(name);
    return files != nullptr ? &files->in(language_.toStdString()) : nullptr;
}

std::vector<std::string> LessonShelf::names() const {
    std::vector<std::string> out;
    const auto add = [&](const engine::LessonLibrary& library) {
        for (const auto& files : library.lessons) {
            if (std::ranges::find(out, files.name) == out.end()) out.push_back(files.name);
        }
    };
    add(engine::builtin_lessons());
    for (const auto& library : opened_) add(library);
    return out;
}

std::vector<LessonEntry> LessonShelf::entries() const {
    std::vector<LessonEntry> out;
    for (const auto& each : names()) {
        const QString name = QString::fromStdString(each);
        const engine::Lesson& lesson = *find(name);
        const auto* library = libraryOf(name);
        LessonEntry entry;
        entry.name = name;
        entry.title = titleParts(lesson).first;
        if (entry.title.isEmpty()) entry.title = name;
        entry.chapter = QString::fromStdString(lesson.chapter);
        if (entry.chapter.isEmpty())
            entry.chapter =
                library->title.empty() ? tr("Opened") : QString::fromStdString(library->title);
        entry.minutes = lesson.minutes;
        entry.broken = !lesson.problems.empty();
        entry.from = QDir::toNativeSeparators(QString::fromStdString(library->path.string()));
        out.push_back(std::move(entry));
    }
    // A chapter stands once: an opened lesson joins those of its chapter.
    std::vector<QString> chapters;
    for (const auto& entry : out) {
        if (std::ranges::find(chapters, entry.chapter) == chapters.end())
            chapters.push_back(entry.chapter);
    }
    std::ranges::stable_sort(out, {}, [&](const LessonEntry& entry) {
        return std::ranges::find(chapters, entry.chapter) - chapters.begin();
    });
    return out;
}

QString LessonShelf::fileOf(const QString& name) const {
    const engine::Lesson* lesson = find(name);
    if (lesson == nullptr || lesson->folder.empty()) return {};
    const QDir folder(QString::fromStdString(lesson->folder.string()));
    const QString language = QString::fromStdString(lesson->language);
    for (const QString& ending : {u'.' + language + u".lesson.md"_s, u".lesson.md"_s}) {
        if (folder.exists(name + ending)) return folder.absoluteFilePath(name + ending);
    }
    return {};
}

void LessonShelf::watch(const QString& name) {
    watched_ = name;
    watch_.reset();
    look_.stop();
    const QString file = fileOf(name);
    if (file.isEmpty()) return;
    watch_.emplace(file.toStdString());
    look_.start();
}

void LessonShelf::reload(const QString& name) {
    const auto* library = libraryOf(name);
    if (library == nullptr || library->path.empty()) return;
    open(QString::fromStdString(library->path.string()));
}

}  // namespace ui
