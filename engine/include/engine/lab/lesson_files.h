#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lab/lesson.h"
#include "engine/runs/run_store.h"

namespace engine {

/// One lesson in the languages that it has.
struct LessonFiles {
    std::string name{};
    std::vector<Lesson> languages{};  ///< English first, where there is one

    /// The lesson in a language ("en", "zh"); else the first one.
    const Lesson& in(std::string_view language) const;
};

/// A folder, zip archive, file, or the built-in ones.
struct LessonLibrary {
    std::string title{};           ///< of a folder or archive: its name; empty: built in
    std::filesystem::path path{};  ///< empty: built in
    std::vector<LessonFiles> lessons{};

    /// Null if there is none of that name.
    const LessonFiles* find(std::string_view name) const;
};

/// The lessons of the program, in the order of the course.
const LessonLibrary& builtin_lessons();
/// Reads NAME.lesson.md together with NAME.zh.lesson.md, a folder of such files, or a zip archive
/// of them. Throws Error(data) if there is no lesson. A translation that lacks the lesson's runs,
/// checks or knobs is reported as a problem. An archive is unpacked in memory, so its lessons have
/// no folder and name no files.
LessonLibrary read_lessons(const std::filesystem::path& path);
/// Whether the path looks like something read_lessons() reads: *.lesson.md, or a folder or zip
/// archive that holds one.
bool is_lesson_path(const std::filesystem::path& path);

/// Notices that a lesson's file was changed by another program.
class LessonFileWatch {
public:
    explicit LessonFileWatch(std::filesystem::path file);
    /// True once after each change.
    bool changed();

private:
    struct Stamp {
        std::filesystem::file_time_type time{};
        std::uintmax_t size = 0;
        bool operator==(const Stamp&) const = default;
    };
    Stamp stamp() const;
    std::filesystem::path file_;
    Stamp seen_;
};

/// Drafts a lesson from a run: its settings that differ from the defaults, its seed, and a check at
/// the selected step. parse_lesson() reads it without a problem if the data set is generated; the
/// path of a data set is left for the author, with a sentence that says so.
std::string draft_lesson(const RunSummary& run, std::int64_t step, const std::string& title);

}  // namespace engine
