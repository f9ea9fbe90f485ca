#include "engine/lab/lesson_files.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "engine/base/error.h"
#include "engine/runs/run_fields.h"
#include "io/zip/zip.h"
#include "lab/lesson_text.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view ending = ".lesson.md", chinese = ".zh.lesson.md";
constexpr std::size_t max_lessons = 200;

/// A course in the order in which it is taught; other lessons follow by name.
constexpr std::array course = {
    "number-formats", "underflow",     "overflow", "fp8-bits",        // numbers
    "lost-updates",   "loss-scale",    "autocast", "dtype-mismatch",  // the AMP recipe
    "fp16-sums",      "batch-norm",    "epsilon",  "boxes",           // fragile operations
    "clipping",       "accumulation",                                 // the training loop
    "bf16-or-fp16",   "nan-detective", "amp-pays", "resume",
    "build-a-network", "bring-a-network"};  // in practice

struct NamedFile {
    std::string name;      ///< of the lesson
    std::string language;  ///< "en", "zh"
};
std::optional<NamedFile> lesson_file(const std::string& file) {
    if (file.ends_with(chinese))
        return NamedFile{file.substr(0, file.size() - chinese.size()), "zh"};
    if (file.ends_with(ending)) return NamedFile{file.substr(0, file.size() - ending.size()), "en"};
    return std::nullopt;
}

/// Files into lessons by name.
class Collector {
public:
    void add(const std::string& file, std::string_view text, const fs::path& folder) {
        const auto named = lesson_file(file);
        if (!named || named->name.empty()) return;
        if (lessons_.size() >= max_lessons && !lessons_.contains(named->name))
            throw Error(ErrorCode::data, msg("There are more than {} lessons.", max_lessons));
        Lesson lesson = parse_lesson(text, named->name, folder);
        lesson.language = named->language;
        auto& languages = lessons_[named->name].languages;
        languages.insert(named->language == "en" ? languages.begin() : languages.end(),
                         std::move(lesson));
    }
    std::vector<LessonFiles> take() {
        std::vector<LessonFiles> out;
        for (auto& [name, files] : lessons_) {
            files.name = name;
            compare(files);
            out.push_back(std::move(files));
        }
        std::ranges::stable_sort(out, {}, place_of);
        return out;
    }

private:
    static std::size_t place_of(const LessonFiles& files) {
        return static_cast<std::size_t>(std::ranges::find(course, files.name) - course.begin());
    }
    static void compare(LessonFiles& files) {
        if (files.languages.size() < 2) return;
        Lesson& translation = files.languages.back();
        if (!files.languages.front().problems.empty() || !translation.problems.empty()) return;
        translation.problems = differences(files.languages.front(), translation);
    }

    std::map<std::string, LessonFiles> lessons_;
};

std::string text_of(const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    std::ifstream in(file, std::ios::binary);
    if (error || !in) throw Error(ErrorCode::data, msg("{} cannot be read.", file.string()));
    // One byte more than a lesson may have: parse_lesson() says that it is too large.
    std::string text(std::min<std::uintmax_t>(size, max_lesson_bytes + 1), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

void add_folder(Collector& lessons, const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& each : fs::directory_iterator(folder))
        if (each.is_regular_file() && lesson_file(each.path().filename().string()))
            files.push_back(each.path());
    std::ranges::sort(files);
    for (const auto& file : files) lessons.add(file.filename().string(), text_of(file), folder);
}

void add_archive(Collector& lessons, const fs::path& path) {
    ZipReader zip(path);
    while (const ZipEntry* entry = zip.next()) {
        const fs::path name(entry->name);
        if (!entry->is_file || !lesson_file(name.filename().string())) continue;
        if (entry->has_bytes && entry->bytes > static_cast<std::uint64_t>(max_lesson_bytes))
            throw Error(ErrorCode::data,
                        msg("{} in {} is too large for a lesson.", entry->name, path.string()));
        const std::string file = name.filename().string();
        lessons.add(file, zip.read_text(static_cast<std::uint64_t>(max_lesson_bytes)), {});
    }
}

/// A file with its translation beside it.
void add_file(Collector& lessons, const fs::path& path) {
    const auto named = lesson_file(path.filename().string());
    if (!named)
        throw Error(ErrorCode::data,
                    msg("{} is not a lesson: its name must end in .lesson.md.", path.string()));
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (const auto& file : {named->name + std::string(ending), named->name + std::string(chinese)})
        if (fs::exists(folder / file)) lessons.add(file, text_of(folder / file), folder);
}

/// Settings that a lesson has of its own or may not name.
bool is_kept(const std::string& field) {
    return field != "seed" && field != "dataset.path" && field != "dataset.order" &&
           field != "model.init_from" && field != "model.init_key" && field != "model.new_head" &&
           !field.starts_with("checkpoint.");
}

std::string written_setting(const RunSummary& run, const std::string& field) {
    std::string value = setting_text(run.config, field);
    std::string out;
    for (const char c : value)
        if (c != ' ' && c != '\n') out += c;
    if (out.size() >= 2 && out.front() == '"' && out.back() == '"')
        out = out.substr(1, out.size() - 2);
    return field + "=" + out;
}

}  // namespace

const Lesson& LessonFiles::in(std::string_view language) const {
    const auto at = std::ranges::find(languages, language, &Lesson::language);
    return at == languages.end() ? languages.front() : *at;
}

const LessonFiles* LessonLibrary::find(std::string_view name) const {
    const auto at = std::ranges::find(lessons, name, &LessonFiles::name);
    return at == lessons.end() ? nullptr : &*at;
}

const LessonLibrary& builtin_lessons() {
    static const LessonLibrary library = [] {
        Collector lessons;
        for (const auto& [file, text] : builtin_lesson_texts())
            lessons.add(std::string(file), text, {});
        LessonLibrary read;
        read.lessons = lessons.take();
        return read;
    }();
    return library;
}

LessonLibrary read_lessons(const fs::path& path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (error || !fs::exists(status))
        throw Error(ErrorCode::data, msg("{} does not exist.", path.string()));
    Collector lessons;
    LessonLibrary library{.title = fs::weakly_canonical(path).filename().string(), .path = path};
    try {
        if (fs::is_directory(status))
            add_folder(lessons, path);
        else if (is_zip(path))
            add_archive(lessons, path);
        else
            add_file(lessons, path);
    } catch (const fs::filesystem_error& failure) {
        throw Error(ErrorCode::data,
                    msg("{} cannot be read: {}.", path.string(), failure.code().message()));
    }
    library.lessons = lessons.take();
    if (library.lessons.empty())
        throw Error(ErrorCode::data, msg("{} contains no lesson.", path.string()));
    return library;
}

bool is_lesson_path(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        for (const auto& each : fs::directory_iterator(path, error))
            if (lesson_file(each.path().filename().string())) return true;
        return false;
    }
    if (lesson_file(path.filename().string())) return true;
    if (!is_zip(path)) return false;
    try {
        ZipReader zip(path);
        while (const ZipEntry* entry = zip.next())
            if (lesson_file(fs::path(entry->name).filename().string())) return true;
    } catch (const Error&) {
        // A damaged archive: opening it as another kind of file reports that.
    }
    return false;
}

LessonFileWatch::LessonFileWatch(fs::path file) : file_(std::move(file)), seen_(stamp()) {}

LessonFileWatch::Stamp LessonFileWatch::stamp() const {
    std::error_code error;
    Stamp out;
    out.time = fs::last_write_time(file_, error);
    if (!error) out.size = fs::file_size(file_, error);
    return error ? Stamp{} : out;
}

bool LessonFileWatch::changed() {
    const Stamp now = stamp();
    // Absent for a moment while an editor replaces it.
    if (now == Stamp{} || now == seen_) return false;
    seen_ = now;
    return true;
}

std::string draft_lesson(const RunSummary& run, std::int64_t step, const std::string& title) {
    std::string settings;
    for (const RunDifference& each : changed_settings(run))
        if (is_kept(each.field)) settings += "\nall: " + written_setting(run, each.field);
    const bool files = !run.config.dataset.path.empty();
    std::string out = "---\ntitle: " + title + "\nchapter: My lessons\nminutes: 5\n---\n";
    out += "## Read\nWhat should a learner know before the run starts? The draft was made of run " +
           run.run + " (seed " + std::to_string(run.config.seed) + ").\n";
    if (files)
        out +=
            "\nIts data are files: copy them beside this lesson and add all: dataset.path=FILE to "
            "the runs.\n";
    out += "\n## Predict\n```predict loss\nWhat will the loss be at step " + std::to_string(step) +
           "?\nnumber: loss\nhint: Look at how fast it falls at first.\n```\n";
    out += "\n## Run\n```runs" + settings + "\nall: max_steps=" + std::to_string(step) +
           "\nrun \"" + title + "\": seed=" + std::to_string(run.config.seed) +
           "\npace: 50 steps/s\n```\n";
    out += "```plot\nloss\nloss_scale log\n```\n";
    out += "\n## Check\n```check\nloss = last(run.loss)\n```\n";
    out += "\n## Why\nExplain what was seen.\n";
    return out;
}

}  // namespace engine
